"""What decides where a request is silent: the namespace's preferences, then the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import cast

from loom_server.model.plan import TopSimilarity
from loom_server.model.query import FloorMode, SearchMode
from loom_server.settings import Settings

ALPHA = 0.5
"""Share of the lexical score in `hybrid`, in [0, 1]: neither side is favoured unmeasured."""

RRF_K = 60
"""Constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): how flat its head is."""

NOTHING: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PlanDefaults:
    """The defaults of one namespace. `preferred` names the fields that the namespace itself chose."""

    search_mode: SearchMode = "semantic"
    top_k: int = 10
    floor_mode: FloorMode = "readmit"
    min_similarity: float = 0.22
    abstain_threshold: float = 0.30
    top_similarity: TopSimilarity = "rank1"
    per_key_cap: int = 1
    top_k_ceiling: int = 200
    leg_quota: int = 100
    codes_from: int = 200_000
    preferred: frozenset[str] = frozenset()

    @classmethod
    def of(cls, settings: Settings, retrieval_defaults: Mapping[str, object] = NOTHING) -> PlanDefaults:
        """The settings, with the namespace's `retrieval_defaults` over them.

        `retrieval_defaults` was validated when the namespace was set. A stored `top_k`
        above today's ceiling is lowered to it: no request could mend it.
        """
        chosen = {name: value for name, value in retrieval_defaults.items() if value is not None}
        top_k = cast(int, chosen.get("top_k", settings.memory_search_top_k))
        return cls(
            search_mode=cast(SearchMode, chosen.get("search_mode", settings.memory_search_default_mode)),
            top_k=min(top_k, settings.memory_search_top_k_ceiling),
            floor_mode=cast(FloorMode, chosen.get("floor_mode", settings.memory_search_floor_mode)),
            min_similarity=settings.memory_search_min_similarity,
            abstain_threshold=settings.memory_search_abstain_threshold,
            top_similarity=settings.memory_search_abstain_top_sim_scope,
            per_key_cap=settings.memory_search_per_key_cap,
            top_k_ceiling=settings.memory_search_top_k_ceiling,
            leg_quota=settings.memory_search_leg_quota,
            codes_from=settings.memory_search_codes_from,
            preferred=frozenset(chosen),
        )

    def source(self, field: str) -> str:
        """Who chose the default of a field, in words for a reason."""
        return "the namespace" if field in self.preferred else "the setting"
