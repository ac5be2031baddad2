"""Words alone; a row without any is not in the order."""

from __future__ import annotations

from loom_server.fusion.lexical import lexical
from stages import a_candidate, a_plan


def test_the_share_of_words_orders_and_bm25_breaks_ties() -> None:
    made = lexical([a_candidate(1, 0.9, lexical=0.5, bm25=0.3)], a_plan(mode="lexical"))[1]
    assert (made.score, made.tie, made.components) == (0.5, 0.3, (("lexical", 0.5),))


def test_a_row_near_in_meaning_alone_is_not_in_the_order() -> None:
    assert set(lexical([a_candidate(1, 0.99), a_candidate(2, 0.1, lexical=0.1)], a_plan(mode="lexical"))) == {2}


def test_a_row_that_only_bm25_brought_stands_behind() -> None:
    made = lexical([a_candidate(1, bm25=0.4), a_candidate(2, lexical=0.1)], a_plan(mode="lexical"))
    assert (made[1].score, made[1].tie) == (0.0, 0.4)
    assert made[2].score > made[1].score


def test_the_weight_of_the_lexical_leg_multiplies() -> None:
    assert lexical([a_candidate(1, lexical=0.5)], a_plan(weights=(("lexical", 2.0),)))[1].score == 1.0
