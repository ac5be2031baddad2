"""Which legs run, how many candidates each may bring, and why the others do not.

A leg of the mode's own orders ranks; any other leg nominates, and its rows take the
mode's relevance. `lexical` and `bm25` are one statement and carry the gate's evidence, so
they run in every mode. `fact` runs in every mode but `lexical`, which has no order by
vectors. A leg of weight zero, or one that the request's `legs` leaves out, does not run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from loom_server.errors import InvalidInput
from loom_server.model.plan import LegPlan, ScanForm
from loom_server.model.query import Query, SearchMode, SearchRequest
from loom_server.plan.defaults import PlanDefaults

LEGS = ("fact", "lexical", "bm25")

ORDERS: Mapping[SearchMode, tuple[str, ...]] = MappingProxyType(
    {
        "semantic": ("fact",),
        "rrf": ("lexical", "fact"),
        "hybrid": ("lexical", "fact"),
        "bm25_hybrid": ("bm25", "fact"),
        "lexical": ("lexical",),
    }
)
"""The legs whose scores make each mode's order."""

MAX_WEIGHT = 100.0
MAX_QUOTA = 1_000


@dataclass(frozen=True, slots=True)
class LegChoice:
    """The legs that run, the weights that the request gave, and one sentence a leg."""

    legs: tuple[LegPlan, ...]
    weights: tuple[tuple[str, float], ...]
    reasons: tuple[str, ...]


def allowed_legs(request: SearchRequest) -> frozenset[str]:
    """The legs that the request lets run, whatever the query holds.

    Raises `InvalidInput` naming `legs.N`, `leg_weights.NAME` or `candidates.NAME`.
    """
    _known((f"legs.{position}", name) for position, name in enumerate(request.legs or ()))
    _known((f"leg_weights.{name}", name) for name, _ in request.leg_weights)
    _known((f"candidates.{name}", name) for name, _ in request.candidates)
    for name, weight in request.leg_weights:
        # Written so that NaN, which compares as false, is refused too.
        if not 0.0 <= weight <= MAX_WEIGHT:
            raise InvalidInput.field(f"leg_weights.{name}", f"must be a number from 0 to {MAX_WEIGHT:g}")
    for name, quota in request.candidates:
        if not 1 <= quota <= MAX_QUOTA:
            raise InvalidInput.field(f"candidates.{name}", f"must be a whole number from 1 to {MAX_QUOTA}")
    asked = LEGS if request.legs is None else request.legs
    weights = dict(request.leg_weights)
    return frozenset(name for name in asked if weights.get(name, 1.0) > 0.0)


def choose_legs(
    mode: SearchMode, request: SearchRequest, query: Query, allowed: frozenset[str], defaults: PlanDefaults
) -> LegChoice:
    """The legs of one search. Raises `InvalidInput` where the request leaves the mode none."""
    _some_leg(mode, request, allowed)
    weights, quotas = dict(request.leg_weights), dict(request.candidates)
    legs: list[LegPlan] = []
    reasons: list[str] = []
    for name in LEGS:
        missing = _left_out(name, mode, request, query, weights)
        if missing:
            reasons.append(f"The leg {name} is left out: {missing}.")
            continue
        form: ScanForm = "codes" if name == "fact" and query.documents >= defaults.codes_from else "exact"
        legs.append(LegPlan(name, quotas.get(name, defaults.leg_quota), weights.get(name, 1.0), form))
        reasons.append(_runs(legs[-1], mode, weighted=name in weights))
        if form == "codes":
            reasons.append(f"The leg {name} scans codes first: the namespace holds {query.documents} rows.")
    return LegChoice(tuple(legs), request.leg_weights, tuple(reasons))


def _known(named: Iterable[tuple[str, str]]) -> None:
    for path, name in named:
        if name not in LEGS:
            raise InvalidInput.field(path, f"no leg is called {name!r}; the legs are {', '.join(LEGS)}")


def _some_leg(mode: SearchMode, request: SearchRequest, allowed: frozenset[str]) -> None:
    serving = set(LEGS) - {"fact"} if mode == "lexical" else set(LEGS)
    if allowed & serving:
        return
    path = "leg_weights" if request.legs is None or set(request.legs) & serving else "legs"
    names = ", ".join(name for name in LEGS if name in serving)
    raise InvalidInput.field(path, f"leaves the mode {mode} no leg to run; it needs one of {names}, of weight above 0")


def _left_out(
    name: str, mode: SearchMode, request: SearchRequest, query: Query, weights: Mapping[str, float]
) -> str | None:
    """Why a leg does not run; None where it does."""
    if request.legs is not None and name not in request.legs:
        return "the request's legs do not name it"
    if weights.get(name) == 0.0:
        return "its weight is zero"
    if name == "fact" and mode == "lexical":
        return "the mode lexical has no order by vectors"
    return _nothing_to_read(name, query)


def _nothing_to_read(name: str, query: Query) -> str | None:
    """What the leg would read and the query lacks."""
    if name == "fact":
        return None if query.has_vector else "the query has no vector"
    if not query.terms:
        return "the query has no term"
    if name == "bm25" and all(term.scored is None for term in query.terms):
        return "the query has only stop words, which BM25 does not count"
    return None


def _runs(leg: LegPlan, mode: SearchMode, *, weighted: bool) -> str:
    most = f"up to {leg.quota} candidates"
    if leg.name in ORDERS[mode]:
        return f"The leg {leg.name} runs, for the mode orders by it: {most}, weight {leg.weight:g}."
    idle = "; its weight moves nothing, for the mode does not order by it" if weighted else ""
    return f"The leg {leg.name} nominates {most}{idle}."
