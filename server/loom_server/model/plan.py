"""What a search will do, and why each choice fell as it did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loom_server.model.query import FloorMode, SearchMode

TopSimilarity = Literal["rank1", "window"]
ScanForm = Literal["exact", "codes"]
"""How a leg by vectors finds its rows: every vector, or short codes first and of the nearest the vectors."""


@dataclass(frozen=True, slots=True)
class LegPlan:
    """One leg that will run: how many candidates it may bring, its weight in fusion, and how it scans."""

    name: str
    quota: int
    weight: float = 1.0
    form: ScanForm = "exact"


@dataclass(frozen=True, slots=True)
class Plan:
    """The choices of one search. `reasons` holds one sentence a choice.

    `weights` are those that the request gave, of legs that run and of legs that do not: a
    row nominated by another leg still takes part in the mode's order by cosine.
    `lexical_weight` is a factor on the lexical order of `rrf`, for rows that match none of
    the slots in `identifiers`. `top_similarity` says whose cosine the gate reads.
    """

    mode: SearchMode
    legs: tuple[LegPlan, ...]
    window: int
    top_k: int
    alpha: float
    rrf_k: int
    lexical_weight: float
    floor: float
    abstain_threshold: float
    floor_mode: FloorMode
    per_key_cap: int
    top_k_ceiling: int
    tier: str = "scalar"
    reasons: tuple[str, ...] = ()
    weights: tuple[tuple[str, float], ...] = ()
    identifiers: int = 0
    top_similarity: TopSimilarity = "rank1"

    def leg(self, name: str) -> LegPlan | None:
        """The plan of the leg called `name`, or None where it does not run."""
        return next((leg for leg in self.legs if leg.name == name), None)

    def weight(self, leg: str) -> float:
        """The weight of a leg's order in fusion: 1 unless the request gave another."""
        return next((weight for name, weight in self.weights if name == leg), 1.0)
