"""Cosine, and the lexical score where cosines are equal."""

from __future__ import annotations

from loom_server.fusion.semantic import semantic
from stages import a_candidate, a_plan


def test_relevance_is_the_cosine_and_words_break_ties() -> None:
    made = semantic([a_candidate(1, 0.6, lexical=0.25), a_candidate(2, -0.1)], a_plan())
    assert (made[1].score, made[1].tie, made[1].components) == (0.6, 0.25, (("cosine", 0.6),))
    assert (made[2].score, made[2].tie) == (-0.1, 0.0)


def test_without_vectors_the_lexical_order_is_left() -> None:
    made = semantic([a_candidate(1, lexical=0.2), a_candidate(2, lexical=0.9)], a_plan())
    assert made[1].score == made[2].score == 0.0
    assert made[2].tie > made[1].tie


def test_the_weight_of_the_fact_leg_multiplies() -> None:
    assert semantic([a_candidate(1, 0.5)], a_plan(weights=(("fact", 3.0),)))[1].score == 1.5
