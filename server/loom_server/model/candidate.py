"""What the stages hand on: leg results, the pooled candidate, the ranked row.

Scores are float64, rounded to 1e-6 by the statement that made them. The one total order
of the service is `order_key`: score, then the other order's score, then key, namespace,
writer, session and row id, so that no two rows are ever equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from loom_server.model.memory import Memory

LegState = Literal["ok", "silent", "failed"]
EMPTY: Mapping[int, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class LegResult:
    """A leg's candidates, best first, as columns of equal length.

    `matched` holds each row's bit mask of matched terms (0 for vector legs). `known` are
    scores of rows beyond the quota that came for free; they nominate nothing.
    """

    leg: str
    state: LegState
    ids: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    matched: tuple[int, ...] = ()
    known: Mapping[int, float] = field(default_factory=lambda: EMPTY)
    milliseconds: float = 0.0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row in the pool: every leg's rank (1 is best) and raw score for it."""

    id: int
    ranks: Mapping[str, int]
    scores: Mapping[str, float]
    similarity: float | None = None
    matched: int = 0

    def score(self, leg: str) -> float:
        """The leg's raw score, 0 where the leg did not find the row."""
        return self.scores.get(leg, 0.0)


@dataclass(frozen=True, slots=True)
class Relevance:
    """What a fusion mode says of one candidate: its order, and the parts of it."""

    score: float
    tie: float
    components: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A hydrated candidate in its final order."""

    memory: Memory
    candidate: Candidate
    rank_score: float
    tie: float
    components: tuple[tuple[str, float], ...]
    similarity: float
    below_floor: bool = False
    below_threshold: bool = False
    evidence: tuple[str, ...] = field(default=())

    @property
    def order_key(self) -> tuple[float, float, str, str, str, str, str, int]:
        """Sort by this, ascending, for the one total order."""
        i = self.memory.identity
        return (
            -self.rank_score,
            -self.tie,
            self.memory.memory_key,
            i.namespace,
            i.agent,
            i.user_id,
            i.session_id,
            self.memory.id,
        )
