"""What is told of one search and of one write, to the metrics and to the log alike.

Neither holds the question, a key, a value or a user; org and namespace are there to be hashed.
"""

from __future__ import annotations

from dataclasses import dataclass

from loom_server.model.candidate import LegResult


@dataclass(frozen=True, slots=True)
class SearchSeen:
    """One search. `mode` is empty where it ended before it was planned, `error` a code where it raised.

    `similarity` is the best cosine of the window, None where the question has no vector or nothing was found.
    """

    org: str
    namespace: str
    mode: str
    outcome: str
    seconds: float
    legs: tuple[LegResult, ...] = ()
    pooled: int = 0
    served: int = 0
    abstain: str | None = None
    degraded: tuple[str, ...] = ()
    similarity: float | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class WriteSeen:
    """One write operation over `rows` memories, of which `written` changed what is stored."""

    org: str
    namespace: str
    operation: str
    outcome: str
    seconds: float
    rows: int
    written: int = 0
    degraded: tuple[str, ...] = ()
    error: str | None = None
