"""The end of a search: does the window answer, and how sure is that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AbstainCode = Literal["page_expired", "no_match", "entity_absent", "below_threshold", "low_calibrated_confidence"]
Risk = Literal["low", "medium", "high", "abstain"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Absolute evidence of one row: nothing in it depends on the other candidates.

    `rare_coverage` is the idf-weighted share of the question's rare terms that the row
    carries, in [0, 1]; it is 0 where the question has no rare term.
    """

    similarity: float
    rare_coverage: float
    identifier: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to "may this be used?". `reason` is a sentence for people."""

    abstain: bool
    code: AbstainCode | None
    reason: str
    confidence: float
    risk: Risk
