"""What a search will do, and why each choice fell as it did."""

from __future__ import annotations

from dataclasses import dataclass

from loom_server.model.query import FloorMode, SearchMode


@dataclass(frozen=True, slots=True)
class LegPlan:
    """One leg that will run: how many candidates it may bring and its weight in fusion."""

    name: str
    quota: int
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The choices of one search. `reasons` holds one sentence a choice."""

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

    def leg(self, name: str) -> LegPlan | None:
        """The plan of the leg called `name`, or None where it does not run."""
        return next((leg for leg in self.legs if leg.name == name), None)
