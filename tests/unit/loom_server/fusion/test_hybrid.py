"""The convex sum, worked by hand."""

from __future__ import annotations

from math import fsum

from loom_server.fusion.hybrid import hybrid
from stages import a_candidate, a_plan


def test_alpha_is_the_share_of_the_words() -> None:
    # 0.25 · 0.8 + 0.75 · 0.4 = 0.2 + 0.3
    made = hybrid([a_candidate(1, 0.4, lexical=0.8)], a_plan(mode="hybrid", alpha=0.25))[1]
    assert made.components == (("hybrid_lexical", 0.2), ("hybrid_cosine", 0.75 * 0.4))
    assert made.score == 0.5
    assert made.tie == 0.4


def test_a_row_without_a_vector_has_its_words_alone() -> None:
    assert hybrid([a_candidate(1, None, lexical=0.8)], a_plan(mode="hybrid"))[1].score == 0.4


def test_a_negative_cosine_takes_away() -> None:
    assert hybrid([a_candidate(1, -0.5, lexical=0.5)], a_plan(mode="hybrid"))[1].score == 0.0


def test_leg_weights_multiply_their_side() -> None:
    plan = a_plan(mode="hybrid", weights=(("lexical", 2.0), ("fact", 0.0)))
    assert hybrid([a_candidate(1, 0.9, lexical=0.5)], plan)[1].score == 0.5


def test_one_hit_keeps_its_score() -> None:
    # scaled by the pool a list of one would be 0 or 1 whatever the row says
    assert hybrid([a_candidate(1, 0.3, lexical=0.1)], a_plan(mode="hybrid"))[1].score == fsum([0.05, 0.15])
