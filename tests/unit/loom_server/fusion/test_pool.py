"""Legs meet in one pool keyed by row."""

from __future__ import annotations

import pytest

from loom_server.fusion.pool import make_pool
from loom_server.model.candidate import LegResult
from loom_server.model.plan import LegPlan
from stages import a_plan

FACT = LegResult("fact", "ok", (7, 3), (0.9, 0.4), (0, 0), {5: 0.31, 99: 0.3})
LEXICAL = LegResult("lexical", "ok", (3, 5), (1.0, 0.5), (0b11, 0b01))
BM25 = LegResult("bm25", "ok", (5, 3), (0.45, 0.44), (0b01, 0b10))
SILENT = LegResult("bm25", "silent", reason="no_term")
FAILED = LegResult("fact", "failed", reason="deadline_exceeded")


def test_each_row_keeps_every_legs_rank_and_score() -> None:
    three, five, seven = make_pool((FACT, LEXICAL, BM25), a_plan())
    assert (three.id, five.id, seven.id) == (3, 5, 7)
    assert three.ranks == {"fact": 2, "lexical": 1, "bm25": 2}
    assert three.scores == {"fact": 0.4, "lexical": 1.0, "bm25": 0.44}
    assert five.ranks == {"lexical": 2, "bm25": 1}
    assert seven.ranks == {"fact": 1}


def test_matched_terms_are_joined() -> None:
    assert [row.matched for row in make_pool((FACT, LEXICAL, BM25), a_plan())] == [0b11, 0b01, 0]


def test_a_known_cosine_is_a_similarity_and_no_nomination() -> None:
    pool = {row.id: row for row in make_pool((FACT, LEXICAL), a_plan())}
    assert pool[5].similarity == 0.31
    assert "fact" not in pool[5].scores
    assert 99 not in pool


def test_a_row_that_no_vector_leg_saw_waits_for_its_cosine() -> None:
    assert [row.similarity for row in make_pool((FAILED, LEXICAL), a_plan())] == [None, None]


def test_the_order_of_the_legs_does_not_matter() -> None:
    assert make_pool((BM25, LEXICAL, FACT), a_plan()) == make_pool((FACT, LEXICAL, BM25), a_plan())


def test_a_leg_keeps_its_whole_share_and_no_more() -> None:
    plan = a_plan(legs=(LegPlan("fact", 1), LegPlan("lexical", 2)))
    assert [row.id for row in make_pool((FACT, LEXICAL), plan)] == [3, 5, 7]
    assert make_pool((FACT,), plan)[0].id == 7


def test_a_row_cut_by_the_quota_keeps_no_rank_of_that_leg() -> None:
    plan = a_plan(legs=(LegPlan("fact", 1), LegPlan("lexical", 2)))
    assert make_pool((FACT, LEXICAL), plan)[0].ranks == {"lexical": 1}


def test_a_leg_outside_the_plan_brings_nothing() -> None:
    assert make_pool((FACT, LEXICAL), a_plan(legs=(LegPlan("bm25", 100),))) == ()


@pytest.mark.parametrize("results", [(), (SILENT,), (FAILED, SILENT)])
def test_silent_and_failed_legs_make_an_empty_pool(results: tuple[LegResult, ...]) -> None:
    assert make_pool(results, a_plan()) == ()


def test_scores_are_rounded_before_any_order() -> None:
    noisy = LegResult("fact", "ok", (1,), (0.1 + 0.2,), (0,))
    assert make_pool((noisy,), a_plan())[0].similarity == 0.3
