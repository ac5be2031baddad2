"""The pipeline of `memory.search`. Each stage takes a frozen value and returns the next.

    Query -> Plan -> LegResults -> Pool -> Ranked -> Window -> Verdict

Two rounds of statements: the legs side by side, then the pool's rows beside the cosines
that no leg brought. A recorder goes along; an explained search is this same pass, and so is a later page.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import datetime

from loom_server.embed.base import Embedder
from loom_server.engine.gather import gather
from loom_server.engine.hydrate import cosines, hydrate, stale_vectors
from loom_server.engine.pages import displaces, expired, turn, written_by
from loom_server.engine.recorder import CountedStore, Trace
from loom_server.engine.understand import understand
from loom_server.fusion.modes import relevance
from loom_server.fusion.pool import make_pool
from loom_server.gate.floor import draw_lines
from loom_server.gate.verdict import PAGE_EXPIRED, judge
from loom_server.legs.base import LegContext
from loom_server.model.candidate import Candidate, LegResult
from loom_server.model.clock import Clock, last_id_by
from loom_server.model.deadline import Deadline
from loom_server.model.explain import timed
from loom_server.model.memory import Memory
from loom_server.model.page import Page
from loom_server.model.plan import Plan
from loom_server.model.query import Query, SearchRequest
from loom_server.model.verdict import Verdict
from loom_server.model.window import Window
from loom_server.plan.defaults import PlanDefaults
from loom_server.plan.planner import make_plan
from loom_server.rank.expression import rank
from loom_server.rank.window import shape_window
from loom_server.store.kept import KeptRows
from loom_server.store.statistics import Statistics
from loom_server.store.store import Store
from loom_server.store.together import together


@dataclass(frozen=True, slots=True)
class Searcher:
    """What every search uses. `executor` holds a thread for each statement of a round."""

    store: Store
    statistics: Statistics
    embedder: Embedder
    executor: Executor
    clock: Clock
    kept: KeptRows


@dataclass(frozen=True, slots=True)
class Tenant:
    """What the namespace decides: its defaults, its language, and the model its org is held to."""

    defaults: PlanDefaults
    language: str = "en"
    org_model: str | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """All that a search came to; `service/answers.py` writes the answer from it. `following` is the next page."""

    request: SearchRequest
    query: Query
    plan: Plan
    legs: tuple[LegResult, ...]
    pooled: int
    stale: int
    window: Window
    verdict: Verdict
    degraded: tuple[str, ...]
    trace: Trace
    store: CountedStore
    model: str
    following: Page | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What one run of the legs came to. `displaced` says that rows which take no part held places of a full leg."""

    legs: tuple[LegResult, ...]
    pooled: int
    window: Window
    displaced: bool


def search(request: SearchRequest, tenant: Tenant, searcher: Searcher, deadline: Deadline) -> SearchResult:
    """One pass. Raises `SearchFailed` when every leg failed, `DeadlineExceeded`, `Cancelled`."""
    trace, store, began = Trace(), CountedStore(searcher.store), searcher.clock.now()
    with timed(trace, "query"):
        statistics = searcher.statistics.namespace(request.scope.org, request.scope.namespace, deadline)
        query = understand(request.query, tenant.language, statistics, searcher.embedder, tenant.org_model, deadline)
    with timed(trace, "plan"):
        plan = make_plan(request, query, tenant.defaults)
    context = LegContext(request, query, plan, store, deadline, searcher.embedder.identity.name)
    found, refilled = _find_page(context, searcher, trace)
    degraded = _degraded(query, found.legs)
    turned = (
        expired(found.window)
        if found.displaced
        else turn(found.window, request.page, last_id_by(began), refilled, degraded)
    )
    return SearchResult(
        request=request,
        query=query,
        plan=plan,
        legs=found.legs,
        pooled=found.pooled,
        stale=_stale(context, tenant),
        window=turned.window,
        verdict=PAGE_EXPIRED if turned.expired else judge(turned.window, query, plan),
        degraded=degraded,
        trace=trace,
        store=store,
        model=context.model,
        following=turned.following,
    )


def _find_page(context: LegContext, searcher: Searcher, trace: Trace) -> tuple[Found, bool]:
    """What one page came to, and whether the legs left out what may not be served.

    The first page decides that for all that follow, which would else go on with another ranking.
    """
    page = context.request.page
    if page is None or not page.refilled:
        found = _find(context, searcher, trace)
        if page is not None or not _crowded_out(found, context.plan):
            return found, False
    return _find(_without_the_fallen(context, searcher.clock.now()), searcher, trace), True


def _find(context: LegContext, searcher: Searcher, trace: Trace) -> Found:
    """The stages from the legs to the window."""
    query, plan, request = context.query, context.plan, context.request
    with timed(trace, "legs"):
        results = gather(context, searcher.executor) if _has_rows(query, request) else ()
    with timed(trace, "pool"):
        taking_part = results if request.page is None else written_by(results, request.page.newest)
        pool = make_pool(taking_part, plan)
    with timed(trace, "hydrate"):
        pool, memories = complete(pool, context, searcher)
    with timed(trace, "rank"):
        ranked = rank(pool, relevance(plan.mode, pool, plan), memories)
        window = shape_window(ranked, draw_lines(ranked, query, plan), plan, request, searcher.clock.now())
    return Found(results, len(pool), window, displaces(results, taking_part, plan))


def _crowded_out(found: Found, plan: Plan) -> bool:
    """Whether rows that may not be served took places in a leg that others would have filled."""
    short = len(found.window.rows) < plan.top_k
    fallen = any(drop.stage in ("expired", "excluded") for drop in found.window.fallen)
    return (
        short
        and fallen
        and any(len(leg.ids) == leg_plan.quota for leg in found.legs if (leg_plan := plan.leg(leg.leg)))
    )


def _without_the_fallen(context: LegContext, now: datetime) -> LegContext:
    """The same question to rows that may be served; it costs each leg a look at `memory`."""
    request = context.request
    filters = replace(request.filters, exclude_keys=request.exclude_keys, unexpired_at=now)
    return replace(context, request=replace(request, filters=filters))


def complete(
    pool: tuple[Candidate, ...], context: LegContext, searcher: Searcher
) -> tuple[tuple[Candidate, ...], Mapping[int, Memory]]:
    """The second round: committed rows only, each with its cosine where it has a vector."""
    if not pool:
        return (), {}
    store, scope, deadline = context.store, context.request.scope, context.deadline
    ids = [candidate.id for candidate in pool]
    vector = context.query.vector
    missing = [candidate.id for candidate in pool if candidate.similarity is None] if vector is not None else []
    memories: Mapping[int, Memory] = {}
    found: Mapping[int, float] = {}

    def read_rows() -> None:
        nonlocal memories
        memories = hydrate(store, scope, ids, deadline, searcher.kept)

    def read_cosines() -> None:
        nonlocal found
        if vector is not None:
            found = cosines(store, scope, missing, vector.tobytes().hex(), context.model, deadline)

    together(searcher.executor, [read_cosines, read_rows] if missing else [read_rows])
    committed = (candidate for candidate in pool if candidate.id in memories)
    return tuple(_with_similarity(candidate, found) for candidate in committed), memories


def _has_rows(query: Query, request: SearchRequest) -> bool:
    """An empty namespace costs no statement; superseded versions are not in its figures."""
    return query.documents > 0 or request.include_superseded


def _stale(context: LegContext, tenant: Tenant) -> int:
    """Rows that no vector leg could read, since they are of another model."""
    if tenant.org_model in (None, context.model):
        return 0
    return stale_vectors(context.store, context.request.scope, context.model, context.deadline)


def _with_similarity(candidate: Candidate, found: Mapping[int, float]) -> Candidate:
    if candidate.similarity is not None:
        return candidate
    return replace(candidate, similarity=found.get(candidate.id))


def _degraded(query: Query, results: tuple[LegResult, ...]) -> tuple[str, ...]:
    failed = tuple(f"{result.leg}: {result.reason}" for result in results if result.state == "failed")
    return (*query.degraded, *failed)
