"""The two scores of the postings, worked by hand, and the same whichever side computes them."""

from __future__ import annotations

from math import log

import pytest

from loom_server.engine.understand import understand
from loom_server.legs.base import LegContext
from loom_server.legs.postings import PostingsLeg
from loom_server.model.candidate import LegResult
from loom_server.model.deadline import Deadline
from loom_server.model.plan import LegPlan
from loom_server.model.query import SearchRequest
from loom_server.model.scope import Scope
from loom_server.plan.defaults import PlanDefaults
from loom_server.plan.planner import make_plan
from loom_server.service.services import Services
from spaces import Space

ROWS = {"1": "red red house", "2": "red boat", "3": "green boat in the green harbour"}
# Scored tokens: 3, 2, 4 (stop words are not counted), so N = 3 and the mean length is 3.


def ask(services: Services, org: str, question: str, leg: PostingsLeg, quota: int = 10) -> dict[str, LegResult]:
    request = SearchRequest(question, Scope(org, "local"), search_mode="bm25_hybrid")
    query = understand(
        question, "en", services.searcher.statistics.namespace(org, "local"), services.searcher.embedder, None
    )
    plan = make_plan(request, query, PlanDefaults())
    context = LegContext(request, query, plan, services.searcher.store, Deadline(20), "none")
    return {result.leg: result for result in leg.run(context, tuple(LegPlan(name, quota) for name in leg.serves))}


HERE, ENGINE = PostingsLeg(), PostingsLeg(few_postings=0)


@pytest.mark.parametrize("leg", [HERE, ENGINE], ids=["here", "engine"])
def test_scores_worked_by_hand(services: Services, org: str, leg: PostingsLeg) -> None:
    Space(services, org).fill(ROWS)
    found = ask(services, org, "red boat", leg)
    # Both words stand in 2 of 3 rows: idf = ln(1 + (3 - 2 + .5) / (2 + .5)) = ln 1.6
    idf = log(1.6)
    total = 2 * idf * 2.2
    one = idf * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3))  # tf 1 in a row of length 2
    both = round(2 * one / total, 6)
    twice = round(idf * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 3)) / total, 6)  # tf 2, length 3
    long = round(idf * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 4 / 3)) / total, 6)  # tf 1, length 4
    assert found["bm25"].scores == pytest.approx((both, twice, long), abs=1e-9)
    assert found["lexical"].scores == (1.0, 0.5, 0.5)
    assert found["bm25"].matched == (0b11, 0b01, 0b10)


@pytest.mark.parametrize("quota", [1, 3, 50])
@pytest.mark.parametrize(
    "question",
    ["red boat", "the green house in the harbour", "went to see the mice", "PROJ-12 and pg_hba.conf", "a the of"],
)
def test_both_sides_agree(services: Services, org: str, question: str, quota: int) -> None:
    words = "red green blue house boat harbour mouse go PROJ-12 PROJ-13 pg_hba.conf see the of".split()
    rows = {f"{n}": " ".join(words[(n * step) % len(words)] for step in range(1, 3 + n % 9)) for n in range(60)}
    Space(services, org).fill(rows)
    assert ask(services, org, question, HERE, quota) == ask(services, org, question, ENGINE, quota)


def test_a_term_that_nobody_wrote_lowers_both_scores(services: Services, org: str) -> None:
    Space(services, org).fill(ROWS)
    known, with_unknown = ask(services, org, "red boat", HERE), ask(services, org, "red boat zeppelin", HERE)
    for leg in HERE.serves:
        assert with_unknown[leg].scores[0] < known[leg].scores[0]
        assert with_unknown[leg].ids == known[leg].ids
