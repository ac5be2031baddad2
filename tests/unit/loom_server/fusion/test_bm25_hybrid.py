"""BM25 and cosine by their share of the weights."""

from __future__ import annotations

from math import fsum

from loom_server.fusion.bm25_hybrid import bm25_hybrid
from stages import a_candidate, a_plan


def test_equal_shares_unless_weights_are_given() -> None:
    # ½ · 0.4 + ½ · 0.6
    made = bm25_hybrid([a_candidate(1, 0.6, bm25=0.4)], a_plan(mode="bm25_hybrid"))[1]
    assert made.components == (("bm25_hybrid_bm25", 0.2), ("bm25_hybrid_cosine", 0.3))
    assert (made.score, made.tie) == (0.5, 0.6)


def test_a_weight_of_three_is_three_quarters() -> None:
    plan = a_plan(mode="bm25_hybrid", weights=(("bm25", 3.0),))
    assert bm25_hybrid([a_candidate(1, 0.4, bm25=0.4)], plan)[1].score == fsum([0.75 * 0.4, 0.25 * 0.4])


def test_a_weight_of_zero_leaves_the_other_whole() -> None:
    plan = a_plan(mode="bm25_hybrid", weights=(("fact", 0.0),))
    assert bm25_hybrid([a_candidate(1, 0.9, bm25=0.4)], plan)[1].score == 0.4


def test_two_weights_of_zero_leave_nothing_and_divide_by_nothing() -> None:
    plan = a_plan(mode="bm25_hybrid", weights=(("bm25", 0.0), ("fact", 0.0)))
    assert bm25_hybrid([a_candidate(1, 0.9, bm25=0.4)], plan)[1].score == 0.0


def test_an_identifier_beats_a_row_that_is_only_near() -> None:
    # the one row with the identifier: ½ · 0.45 + ½ · 0.20; a near row without it: ½ · 0.55
    made = bm25_hybrid([a_candidate(1, 0.20, bm25=0.45), a_candidate(2, 0.55)], a_plan(mode="bm25_hybrid"))
    assert made[1].score > made[2].score
