"""A row's score is the exact sum of its components; the order is total."""

from __future__ import annotations

from math import fsum

from loom_server.model.candidate import Relevance
from loom_server.rank.expression import rank
from stages import a_candidate, a_memory


def relevance(score: float, tie: float = 0.0) -> Relevance:
    return Relevance(score, tie, (("only", score),))


def test_the_score_is_the_exact_sum_in_the_listed_order() -> None:
    # added one after another these are 0.0: the small one is lost in the large
    parts = (("large", 1e16), ("small", 1.0), ("back", -1e16))
    (row,) = rank([a_candidate(1, 0.5)], {1: Relevance(1.0, 0.0, parts)}, {1: a_memory(1)})
    assert row.rank_score == 1.0 == fsum(amount for _, amount in row.components)
    assert row.components == parts


def test_rows_stand_by_score_then_tie_then_key() -> None:
    pool = [a_candidate(row_id, 0.5) for row_id in (1, 2, 3, 4)]
    relevances = {1: relevance(0.1), 2: relevance(0.5, 0.1), 3: relevance(0.5, 0.9), 4: relevance(0.5, 0.1)}
    memories = {1: a_memory(1), 2: a_memory(2, "b"), 3: a_memory(3, "z"), 4: a_memory(4, "a")}
    assert [row.memory.id for row in rank(pool, relevances, memories)] == [3, 4, 2, 1]


def test_versions_of_one_key_stand_by_row_id() -> None:
    pool = [a_candidate(2, 0.5), a_candidate(1, 0.5)]
    memories = {1: a_memory(1, "same"), 2: a_memory(2, "same")}
    assert [row.memory.id for row in rank(pool, {1: relevance(0.5), 2: relevance(0.5)}, memories)] == [1, 2]


def test_a_row_outside_the_modes_order_is_not_ranked() -> None:
    pool = [a_candidate(1, 0.5), a_candidate(2, 0.5)]
    assert [row.memory.id for row in rank(pool, {2: relevance(0.5)}, {1: a_memory(1), 2: a_memory(2)})] == [2]


def test_a_row_that_was_never_committed_is_not_ranked() -> None:
    pool = [a_candidate(1, 0.5), a_candidate(2, 0.5)]
    assert [row.memory.id for row in rank(pool, {1: relevance(0.5), 2: relevance(0.5)}, {1: a_memory(1)})] == [1]


def test_a_row_without_a_vector_has_similarity_zero() -> None:
    (row,) = rank([a_candidate(1, None, lexical=0.5)], {1: relevance(0.5)}, {1: a_memory(1)})
    assert row.similarity == 0.0
