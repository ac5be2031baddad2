"""What every leg must do, run on each leg of the registry over a real store.

A leg honours scope, filters, quota and deadline; is silent without a signal; is deterministic;
depends on the question; and its failure is named while the search goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from loom_client import wire
from loom_server.engine.gather import gather
from loom_server.engine.understand import understand
from loom_server.errors import DeadlineExceeded, SearchFailed, StatementFailed
from loom_server.legs.base import Leg, LegContext
from loom_server.legs.fact import FactLeg
from loom_server.legs.registry import LEG_NAMES, LEGS
from loom_server.model.candidate import LegResult
from loom_server.model.deadline import Deadline
from loom_server.model.plan import LegPlan
from loom_server.model.query import SearchRequest
from loom_server.model.scope import Filters, Scope
from loom_server.plan.defaults import PlanDefaults
from loom_server.plan.planner import make_plan
from loom_server.service.services import Services

ROWS = {
    "db/primary": "The primary database runs PostgreSQL 16 on host atlas-3",
    "db/config": "Connection limits stand in pg_hba.conf on the primary",
    "team/lead": "Ana Moreira leads the storage team from Lisbon",
    "team/oncall": "Bruno carries the pager through the nights of May",
    "food/lunch": "The canteen serves soup on Fridays",
}
QUESTION = "Who leads the storage team?"


@pytest.fixture
def space(services: Services, org: str) -> Callable[..., LegContext]:
    """Write the rows, and make the context of a question over them."""
    for namespace, agent in (("mine", "one"), ("other", "two")):
        items = [{"memory_key": key, "value": text, "tags": [key.split("/")[0]]} for key, text in ROWS.items()]
        body = {"org": org, "namespace": namespace, "agent": agent, "items": items}
        services.set_many(wire.MemorySetManyRequest.model_validate(body), Deadline(30))

    def context(question: str = QUESTION, *, seconds: float = 10, **changes: object) -> LegContext:
        request = SearchRequest(question, Scope(org, "mine"))
        request = replace(request, **changes)  # type: ignore[arg-type]
        scope = request.scope
        statistics = services.searcher.statistics.namespace(scope.org, scope.namespace)
        query = understand(question, "en", statistics, services.searcher.embedder, None)
        plan = make_plan(replace(request, search_mode="hybrid"), query, PlanDefaults())
        model = services.searcher.embedder.identity.name
        return LegContext(request, query, plan, services.searcher.store, Deadline(seconds), model)

    return context


def run(leg: Leg, context: LegContext, quota: int = 100) -> dict[str, LegResult]:
    return {r.leg: r for r in leg.run(context, tuple(LegPlan(name, quota) for name in leg.serves))}


def keys(context: LegContext, result: LegResult) -> list[str]:
    from loom_server.engine.hydrate import hydrate

    rows = hydrate(context.store, context.request.scope, result.ids, Deadline(10))
    return [rows[row_id].memory_key for row_id in result.ids if row_id in rows]


class CodesFirst(FactLeg):
    """The fact leg as a large namespace has it."""

    def run(self, context: LegContext, plans: tuple[LegPlan, ...]) -> tuple[LegResult, ...]:
        return super().run(context, tuple(replace(plan, form="codes") for plan in plans))


each_leg = pytest.mark.parametrize("leg", [*LEGS, CodesFirst()], ids=lambda leg: f"{type(leg).__name__}")


def test_every_leg_has_one_name() -> None:
    assert len(set(LEG_NAMES)) == len(LEG_NAMES)


@each_leg
def test_finds_the_answer_first(leg: Leg, space: Callable[..., LegContext]) -> None:
    context = space()
    for result in run(leg, context).values():
        assert result.state == "ok"
        assert keys(context, result)[0] == "team/lead"


@each_leg
def test_columns_have_one_length_and_fall(leg: Leg, space: Callable[..., LegContext]) -> None:
    for result in run(leg, space()).values():
        assert len(result.ids) == len(result.scores) == len(result.matched) == len(set(result.ids))
        assert list(result.scores) == sorted(result.scores, reverse=True)
        assert all(round(score, 6) == score for score in result.scores)


@each_leg
def test_brings_rows_of_the_scope_alone(leg: Leg, space: Callable[..., LegContext]) -> None:
    mine = space()
    theirs = space(scope=replace(mine.request.scope, namespace="other"))
    for name, result in run(leg, mine).items():
        assert set(result.ids).isdisjoint(run(leg, theirs)[name].ids)
    narrowed = space(scope=replace(mine.request.scope, agent="two"))
    assert all(not result.ids for result in run(leg, narrowed).values())


@each_leg
def test_obeys_filters(leg: Leg, space: Callable[..., LegContext]) -> None:
    context = space(filters=Filters(tags_any=("food", "db")))
    for result in run(leg, context).values():
        assert not {"team/lead", "team/oncall"} & set(keys(context, result))


@each_leg
def test_obeys_its_quota(leg: Leg, space: Callable[..., LegContext]) -> None:
    context = space()
    for name, result in run(leg, context, quota=1).items():
        assert result.ids == run(leg, context)[name].ids[:1]


@each_leg
def test_is_silent_without_a_signal(leg: Leg, space: Callable[..., LegContext]) -> None:
    for result in run(leg, space("!!! ???")).values():
        assert (result.state, result.ids) == ("silent", ())


@each_leg
def test_depends_on_the_question(leg: Leg, space: Callable[..., LegContext]) -> None:
    first, second = space(), space("soup in the canteen on Fridays")
    for name, result in run(leg, first).items():
        assert keys(first, result)[0] != keys(second, run(leg, second)[name])[0]


@each_leg
def test_is_deterministic(leg: Leg, space: Callable[..., LegContext]) -> None:
    context = space()
    first = run(leg, context)
    assert all(run(leg, context) == first for _ in range(3))


@each_leg
def test_obeys_its_deadline(leg: Leg, space: Callable[..., LegContext]) -> None:
    context = space(seconds=-1)
    with pytest.raises(DeadlineExceeded):
        leg.run(context, tuple(LegPlan(name, 10) for name in leg.serves))


class Broken:
    """A leg that fails as the given error says."""

    def __init__(self, serves: tuple[str, ...], error: Exception) -> None:
        self.serves, self.error = serves, error

    def run(self, context: LegContext, plans: tuple[LegPlan, ...]) -> tuple[LegResult, ...]:
        raise self.error


@each_leg
@pytest.mark.parametrize(
    ("error", "reason"),
    [(StatementFailed("no"), "statement_failed"), (DeadlineExceeded("late"), "deadline_exceeded"),
     (KeyError("junk"), "unexpected_KeyError")],
)  # fmt: skip
def test_its_failure_is_named_and_the_search_goes_on(
    leg: Leg, error: Exception, reason: str, space: Callable[..., LegContext]
) -> None:
    legs = [Broken(leg.serves, error) if other.serves == leg.serves else other for other in LEGS]
    with ThreadPoolExecutor(4) as executor:
        results = {r.leg: r for r in gather(space(), executor, legs)}
    assert {results[name].state for name in leg.serves} == {"failed"}
    assert {results[name].reason for name in leg.serves} == {reason}
    assert {r.state for name, r in results.items() if name not in leg.serves} == {"ok"}


def test_only_when_every_leg_fails_is_the_search_an_error(space: Callable[..., LegContext]) -> None:
    legs = [Broken(leg.serves, StatementFailed("no")) for leg in LEGS]
    with ThreadPoolExecutor(4) as executor, pytest.raises(SearchFailed, match="fact: statement_failed"):
        gather(space(), executor, legs)
