"""The leg contract: one statement, one score, candidates best first.

A leg obeys the scope, its deadline and its quota, is silent when it has nothing to add,
and names its failure instead of failing the search. `run` raises; the engine's gather
turns what it raises into a `failed` result with a stable reason code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from loom_server.model.candidate import LegResult
from loom_server.model.deadline import Deadline
from loom_server.model.plan import LegPlan, Plan
from loom_server.model.query import Query, SearchRequest
from loom_server.store.store import Store


@dataclass(frozen=True, slots=True)
class LegContext:
    """All that a leg may use. `model` is the identity name of the live embedder."""

    request: SearchRequest
    query: Query
    plan: Plan
    store: Store
    deadline: Deadline
    model: str


class Leg(Protocol):
    """One source of candidates. `serves` names the planned legs it answers for."""

    @property
    def serves(self) -> tuple[str, ...]: ...

    def run(self, context: LegContext, plans: tuple[LegPlan, ...]) -> tuple[LegResult, ...]:
        """One statement; a result for each of `plans`."""
        ...
