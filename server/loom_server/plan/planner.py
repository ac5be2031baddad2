"""From a request, its query and the defaults to a plan, with a sentence for each choice.

    field of the request  >  the namespace's preference  >  setting

The query's shape overrules a mode only where a default chose it: a whole identifier takes
`bm25_hybrid`. The fused window has one size, whatever the page: it holds every leg's
reserved share, and never fewer rows than the largest page.

Raises `InvalidInput` naming the field where the request asks for what no plan can hold.
"""

from __future__ import annotations

from loom_server.errors import InvalidInput
from loom_server.model.plan import LegPlan, Plan
from loom_server.model.query import FloorMode, Query, SearchMode, SearchRequest
from loom_server.plan.defaults import ALPHA, RRF_K, PlanDefaults
from loom_server.plan.legs import ORDERS, allowed_legs, choose_legs
from loom_server.plan.shape import ADAPTIVE_LEXICAL_WEIGHT, Shape, shape_of

MAX_RRF_K = 10_000
IDENTIFIER_MODE: SearchMode = "bm25_hybrid"


def make_plan(request: SearchRequest, query: Query, defaults: PlanDefaults) -> Plan:
    """The plan of one search."""
    _check(request, defaults)
    allowed = allowed_legs(request)
    shape = shape_of(query)
    mode, why_mode = _mode(request, shape, defaults, allowed)
    choice = choose_legs(mode, request, query, allowed, defaults)
    lexical_weight, why_lexical = _lexical_weight(mode, request, shape)
    floor_mode, why_floor = _floor(request, defaults)
    top_k, why_top_k = _top_k(request, defaults, choice.legs)
    return Plan(
        mode=mode,
        legs=choice.legs,
        window=max(defaults.top_k_ceiling, sum(leg.quota for leg in choice.legs)),
        top_k=top_k,
        alpha=ALPHA if request.alpha is None else request.alpha,
        rrf_k=RRF_K if request.rrf_k is None else request.rrf_k,
        lexical_weight=lexical_weight,
        floor=defaults.min_similarity if request.min_similarity is None else request.min_similarity,
        abstain_threshold=defaults.abstain_threshold,
        floor_mode=floor_mode,
        per_key_cap=defaults.per_key_cap,
        top_k_ceiling=defaults.top_k_ceiling,
        reasons=(
            why_mode,
            *_fallback(mode, query, choice.legs),
            *choice.reasons,
            *why_lexical,
            *_idle_fields(mode, request),
            why_floor,
            *why_top_k,
        ),
        weights=choice.weights,
        identifiers=query.identifiers,
        top_similarity=defaults.top_similarity,
    )


def _check(request: SearchRequest, defaults: PlanDefaults) -> None:
    ceiling = defaults.top_k_ceiling
    if request.top_k is not None and not 1 <= request.top_k <= ceiling:
        raise InvalidInput.field("top_k", f"must be from 1 to {ceiling}, the ceiling of this service")
    # Written so that NaN, which compares as false, is refused too.
    if request.alpha is not None and not 0.0 <= request.alpha <= 1.0:
        raise InvalidInput.field("alpha", "must be a number from 0 to 1")
    if request.rrf_k is not None and not 1 <= request.rrf_k <= MAX_RRF_K:
        raise InvalidInput.field("rrf_k", f"must be a whole number from 1 to {MAX_RRF_K}")
    if request.min_similarity is not None and not -1.0 <= request.min_similarity <= 1.0:
        raise InvalidInput.field("min_similarity", "must be a cosine, from -1 to 1")


def _mode(
    request: SearchRequest, shape: Shape, defaults: PlanDefaults, allowed: frozenset[str]
) -> tuple[SearchMode, str]:
    if request.search_mode is not None:
        return request.search_mode, f"Mode {request.search_mode}: the request asks for it."
    default = defaults.search_mode
    if shape.identifiers and "bm25" in allowed and default != IDENTIFIER_MODE:
        held = shape.identifiers[0]
        return IDENTIFIER_MODE, f"Mode {IDENTIFIER_MODE} instead of {default}: the query holds the identifier {held}."
    return default, f"Mode {default}: the default of {defaults.source('search_mode')}."


def _fallback(mode: SearchMode, query: Query, legs: tuple[LegPlan, ...]) -> tuple[str, ...]:
    """What a mode does without the scores that it orders by."""
    if not legs:
        return ("No leg can run: the query has nothing that they could look for.",)
    if "fact" in ORDERS[mode] and not query.has_vector:
        return (f"The query has no vector, so {mode} falls back on the lexical order.",)
    return ()


def _lexical_weight(mode: SearchMode, request: SearchRequest, shape: Shape) -> tuple[float, tuple[str, ...]]:
    if mode != "rrf" or not shape.code:
        return 1.0, ()
    if not request.rrf_adaptive_lexical:
        return 1.0, ("The lexical order keeps its full weight: rrf_adaptive_lexical is off.",)
    kept = " but for rows that carry a whole identifier of it" if shape.identifiers else ""
    weight = f"{ADAPTIVE_LEXICAL_WEIGHT:g} of its weight{kept}"
    return ADAPTIVE_LEXICAL_WEIGHT, (f"The lexical order counts {weight}: the query looks like code or a path.",)


def _idle_fields(mode: SearchMode, request: SearchRequest) -> tuple[str, ...]:
    """Fields of other modes that were given: nothing is taken and passed over in silence."""
    idle = (("alpha", "hybrid", request.alpha), ("rrf_k", "rrf", request.rrf_k))
    return tuple(
        f"{field} moves nothing: only the mode {reader} reads it."
        for field, reader, value in idle
        if value is not None and mode != reader
    )


def _floor(request: SearchRequest, defaults: PlanDefaults) -> tuple[FloorMode, str]:
    mode = defaults.floor_mode if request.floor_mode is None else request.floor_mode
    floor = defaults.min_similarity if request.min_similarity is None else request.min_similarity
    source = "the setting" if request.min_similarity is None else "the request"
    chosen = defaults.source("floor_mode") if request.floor_mode is None else "the request"
    return mode, f"Floor {floor:g} of {source}; rows under it: {mode}, by {chosen}."


def _top_k(request: SearchRequest, defaults: PlanDefaults, legs: tuple[LegPlan, ...]) -> tuple[int, tuple[str, ...]]:
    top_k = defaults.top_k if request.top_k is None else request.top_k
    if not legs or top_k <= max(leg.quota for leg in legs):
        return top_k, ()
    brought = sum(leg.quota for leg in legs)
    return top_k, (f"top_k {top_k} may stay unfilled: the legs bring at most {brought} together; raise candidates.",)
