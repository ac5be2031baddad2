"""For any pool, every mode is a function of its rows: bounded, exact, and blind to their order."""

from __future__ import annotations

from math import fsum
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_server.fusion.modes import MODES, relevance
from loom_server.model.candidate import Candidate
from loom_server.model.query import SearchMode
from loom_server.rank.expression import rank
from stages import a_candidate, a_memory, a_plan

COSINES = st.none() | st.floats(-1.0, 1.0).map(lambda score: round(score, 6))
SHARES = st.floats(0.0, 1.0).map(lambda score: round(score, 6))
# few distinct values, so that ties are common
COARSE = st.sampled_from([0.0, 0.25, 0.5, 1.0])
ROWS = st.tuples(COSINES | COARSE, SHARES | COARSE, SHARES | COARSE)
POOLS = st.lists(ROWS, max_size=25).map(
    lambda rows: [a_candidate(100 + n, *row, matched=n % 4) for n, row in enumerate(rows)]
)
WEIGHTS = st.fixed_dictionaries({leg: st.sampled_from([0.0, 0.5, 1.0, 3.0]) for leg in ("fact", "lexical", "bm25")})

every_mode = pytest.mark.parametrize("mode", sorted(MODES))


@every_mode
@given(pool=POOLS, seed=st.integers())
def test_the_order_of_the_pool_does_not_matter(mode: SearchMode, pool: list[Candidate], seed: int) -> None:
    plan = a_plan(mode=mode, lexical_weight=0.5, identifiers=0b10)
    shuffled = Random(seed).sample(pool, len(pool))
    assert relevance(mode, shuffled, plan) == relevance(mode, pool, plan)
    memories = {row.id: a_memory(row.id, f"key-{row.id % 3}") for row in pool}
    first, second = (rank(rows, relevance(mode, rows, plan), memories) for rows in (pool, shuffled))
    assert [row.memory.id for row in first] == [row.memory.id for row in second]


@every_mode
@given(pool=POOLS, weights=WEIGHTS)
def test_components_add_up_to_the_score_to_the_last_bit(
    mode: SearchMode, pool: list[Candidate], weights: dict[str, float]
) -> None:
    plan = a_plan(mode=mode, weights=tuple(weights.items()), alpha=0.3, lexical_weight=0.5)
    made = relevance(mode, pool, plan)
    for one in made.values():
        assert fsum(amount for _, amount in one.components) == one.score
    for row in rank(pool, made, {row.id: a_memory(row.id) for row in pool}):
        assert fsum(amount for _, amount in row.components) == row.rank_score


@every_mode
@given(pool=POOLS, alpha=st.floats(0.0, 1.0))
def test_scores_stay_in_the_modes_bound(mode: SearchMode, pool: list[Candidate], alpha: float) -> None:
    low, high = {"rrf": (0.0, 2 / 61), "lexical": (0.0, 1.0)}.get(mode, (-1.0, 1.0))
    for one in relevance(mode, pool, a_plan(mode=mode, alpha=alpha)).values():
        assert low - 1e-12 <= one.score <= high + 1e-12


@every_mode
@given(row=ROWS, copies=st.integers(1, 5))
def test_a_list_of_one_or_of_equals_keeps_its_hits(
    mode: SearchMode, row: tuple[float | None, float, float], copies: int
) -> None:
    pool = [a_candidate(row_id, *row) for row_id in range(copies)]
    made = relevance(mode, pool, a_plan(mode=mode))
    found_by_words = row[1] > 0.0 or row[2] > 0.0
    assert len(made) == (copies if mode != "lexical" or found_by_words else 0)
    assert len({(one.score, one.tie) for one in made.values()}) <= 1
    alone = relevance(mode, pool[:1], a_plan(mode=mode))
    assert {one.score for one in made.values()} == {one.score for one in alone.values()}


@given(
    cosine=st.floats(-1.0, 1.0),
    lexical=st.floats(0.01, 1.0),
    others=st.lists(st.tuples(st.floats(-1.0, 1.0), SHARES), max_size=20),
)
def test_rrf_agreement_beats_a_single_list(cosine: float, lexical: float, others: list[tuple[float, float]]) -> None:
    # the agreed row is as near as the single one, and said in words besides
    agreed, single = a_candidate(1, cosine, lexical=lexical), a_candidate(2, cosine)
    pool = [agreed, single, *(a_candidate(10 + n, *other) for n, other in enumerate(others))]
    made = relevance("rrf", pool, a_plan(mode="rrf"))
    assert made[1].score > made[2].score


@given(pool=POOLS)
def test_rrf_never_puts_a_row_behind_one_that_is_no_better_in_either_order(pool: list[Candidate]) -> None:
    made = relevance("rrf", pool, a_plan(mode="rrf"))
    for one in pool:
        for other in pool:
            if "fact" not in one.ranks or "fact" not in other.ranks:
                continue
            assert one.similarity is not None and other.similarity is not None
            if one.similarity >= other.similarity and one.score("lexical") >= other.score("lexical"):
                assert made[one.id].score >= made[other.id].score


@pytest.mark.parametrize(
    ("mode", "leg"),
    [
        ("semantic", "fact"),
        ("rrf", "lexical"),
        ("rrf", "fact"),
        ("hybrid", "lexical"),
        ("hybrid", "fact"),
        ("bm25_hybrid", "bm25"),
        ("bm25_hybrid", "fact"),
        ("lexical", "lexical"),
    ],
)
@given(pool=POOLS)
def test_a_leg_of_weight_zero_contributes_nothing(mode: SearchMode, leg: str, pool: list[Candidate]) -> None:
    plan = a_plan(mode=mode, weights=((leg, 0.0),))
    made = relevance(mode, pool, plan)
    part = {"lexical": 0, "bm25": 0, "fact": -1}[leg]
    assert all(one.components[part][1] == 0.0 for one in made.values())


@pytest.mark.parametrize("mode", sorted(set(MODES) - {"rrf"}))
@given(pool=POOLS, extra=ROWS)
def test_a_row_keeps_its_score_when_another_joins_unless_ranks_are_fused(
    mode: SearchMode, pool: list[Candidate], extra: tuple[float | None, float, float]
) -> None:
    plan = a_plan(mode=mode)
    before = relevance(mode, pool, plan)
    after = relevance(mode, [*pool, a_candidate(7, *extra)], plan)
    assert {row_id: one for row_id, one in after.items() if row_id != 7} == before
