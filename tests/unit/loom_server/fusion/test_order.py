"""Ranks that depend on scores alone."""

from __future__ import annotations

from math import fsum

from loom_server.fusion.order import cosine, relevance_of, rounded, shared_ranks
from stages import a_candidate


def test_scores_are_compared_to_a_millionth() -> None:
    assert rounded(0.1 + 0.2) == 0.3
    assert rounded(0.123456501) == 0.123457


def test_rows_equal_in_both_scores_share_a_rank() -> None:
    # by score 9, 5, 5, 1; rows 2 and 3 are equal in the other score too: ranks 1, 2, 2, 4
    assert shared_ranks([(4, 1.0, 0.0), (3, 5.0, 0.2), (2, 5.0, 0.2), (1, 9.0, 0.0)]) == {1: 1, 2: 2, 3: 2, 4: 4}


def test_the_other_score_breaks_a_tie() -> None:
    assert shared_ranks([(1, 5.0, 0.1), (2, 5.0, 0.2)]) == {2: 1, 1: 2}


def test_no_rows_have_no_ranks() -> None:
    assert shared_ranks([]) == {}


def test_a_row_without_a_vector_has_cosine_zero() -> None:
    assert cosine(a_candidate(1, None, lexical=0.5)) == 0.0
    assert cosine(a_candidate(1, -0.2)) == -0.2


def test_a_relevance_is_the_exact_sum_of_its_parts() -> None:
    # the plain sum of ten times 0.1 is 0.9999999999999999
    parts = [(f"part {n}", 0.1) for n in range(10)]
    made = relevance_of(0.0, *parts)
    assert made.score == 1.0 == fsum(amount for _, amount in made.components)
    assert sum(amount for _, amount in parts) < 1.0
