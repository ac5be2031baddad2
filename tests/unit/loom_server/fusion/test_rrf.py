"""Reciprocal rank fusion, worked by hand."""

from __future__ import annotations

from dataclasses import replace
from math import fsum

import pytest

from loom_server.fusion.rrf import rrf
from stages import a_candidate, a_plan


def test_two_orders_are_added_by_rank() -> None:
    # by cosine: 1, 2, 3       by words: 2, 1; row 3 says none
    pool = [a_candidate(1, 0.9, lexical=0.2), a_candidate(2, 0.8, lexical=1.0), a_candidate(3, 0.1)]
    made = rrf(pool, a_plan(mode="rrf"))
    assert made[1].score == fsum([1 / 62, 1 / 61])
    assert made[2].score == fsum([1 / 61, 1 / 62])
    assert made[3].components == (("rrf_lexical", 0.0), ("rrf_semantic", 1 / 63))
    # rows 1 and 2 add up to the same: the words decide
    assert made[1].score == made[2].score
    assert made[1].tie < made[2].tie


def test_a_row_that_only_words_found_is_in_no_order_by_cosine() -> None:
    # the row's cosine came with hydration, the fact leg did not bring it
    hydrated = replace(a_candidate(2, lexical=0.5), similarity=0.3)
    made = rrf([a_candidate(1, 0.9), hydrated], a_plan(mode="rrf"))
    assert made[2].components == (("rrf_lexical", 1 / 61), ("rrf_semantic", 0.0))


def test_a_row_without_a_vector_is_in_no_order_by_cosine() -> None:
    made = rrf([a_candidate(1, None, lexical=0.5), a_candidate(2, -0.5)], a_plan(mode="rrf"))
    assert made[1].components == (("rrf_lexical", 1 / 61), ("rrf_semantic", 0.0))
    assert made[2].components == (("rrf_lexical", 0.0), ("rrf_semantic", 1 / 61))


def test_ties_in_one_order_break_by_the_other() -> None:
    pool = [a_candidate(1, 0.5, lexical=0.5), a_candidate(2, 0.4, lexical=0.5)]
    made = rrf(pool, a_plan(mode="rrf"))
    assert made[1].components[0] == ("rrf_lexical", 1 / 61)
    assert made[2].components[0] == ("rrf_lexical", 1 / 62)


def test_equal_rows_have_equal_scores() -> None:
    made = rrf([a_candidate(row_id, 0.5, lexical=0.5) for row_id in (4, 1, 9)], a_plan(mode="rrf"))
    assert {relevance.score for relevance in made.values()} == {fsum([1 / 61, 1 / 61])}


def test_weights_and_k_of_the_request() -> None:
    plan = a_plan(mode="rrf", rrf_k=10, weights=(("lexical", 2.0), ("fact", 0.5)))
    made = rrf([a_candidate(1, 0.9, lexical=0.2)], plan)
    assert made[1].components == (("rrf_lexical", 2 / 11), ("rrf_semantic", 0.5 / 11))


def test_a_fact_leg_of_weight_zero_adds_nothing_although_cosines_are_known() -> None:
    made = rrf([a_candidate(1, 0.9, lexical=0.2)], a_plan(mode="rrf", weights=(("fact", 0.0),)))
    assert made[1].score == 1 / 61


def test_code_lowers_the_words_but_not_for_a_whole_identifier() -> None:
    plan = a_plan(mode="rrf", lexical_weight=0.5, identifiers=0b100)
    pool = [a_candidate(1, 0.1, lexical=0.9, matched=0b111), a_candidate(2, 0.2, lexical=0.3, matched=0b011)]
    made = rrf(pool, plan)
    assert made[1].components[0] == ("rrf_lexical", 1 / 61)
    assert made[2].components[0] == ("rrf_lexical", 0.5 / 62)


def test_the_bound_is_reached_by_a_row_first_in_both() -> None:
    assert rrf([a_candidate(1, 0.9, lexical=0.2)], a_plan(mode="rrf"))[1].score == pytest.approx(2 / 61)
