from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from loom_server.evaluation.statistics import ROUNDS, Interval, holm, interval, randomisation


def exact(differences: list[float]) -> float:
    """The two-sided p over every assignment of signs."""
    observed = abs(sum(differences)) - 1e-12
    sums = [
        abs(sum(sign * one for sign, one in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(one >= observed for one in sums) / len(sums)


@pytest.mark.parametrize("differences", [[0.1, 0.2, 0.3, 0.1], [0.5, -0.2, 0.1, 0.3, 0.4, -0.1], [1.0] * 8])
def test_p_is_that_of_all_signs(differences: list[float]) -> None:
    assert randomisation(differences) == pytest.approx(exact(differences), abs=0.015)


def test_questions_that_do_not_differ_change_no_p() -> None:
    some = [0.1, 0.2, -0.05, 0.3]
    assert randomisation(some) == randomisation([*some, *[0.0] * 50])


def test_nothing_differs_nothing_is_found() -> None:
    assert randomisation([0.0, 0.0]) == 1.0
    assert randomisation([]) == 1.0


def test_the_least_p_is_one_of_all_rounds() -> None:
    assert randomisation([0.5] * 200) == 1 / (ROUNDS + 1)


def test_p_is_spread_evenly_where_there_is_no_difference() -> None:
    random = np.random.default_rng(5)
    found = [randomisation(list(random.normal(size=30)), seed) for seed in range(100)]
    assert 0 <= sum(one < 0.05 for one in found) <= 12
    assert 0.4 < float(np.mean(found)) < 0.6


def test_an_interval_is_that_of_the_mean() -> None:
    values = list(np.random.default_rng(3).normal(2.0, 1.0, size=400))
    found = interval(values)
    usual = 1.96 * float(np.std(values)) / 20
    assert found.n == 400
    assert found.mean == pytest.approx(float(np.mean(values)))
    assert (found.low, found.high) == pytest.approx((found.mean - usual, found.mean + usual), abs=0.012)


def test_intervals_of_little() -> None:
    assert interval([]) == Interval(0, 0.0, 0.0, 0.0)
    assert interval([0.25]) == Interval(1, 0.25, 0.25, 0.25)


def test_a_seed_gives_the_same_figures_again() -> None:
    values = [0.1, 0.9, 0.3, 0.4, 0.8]
    assert interval(values, 7) == interval(values, 7)
    assert interval(values, 7) != interval(values, 8)
    assert randomisation([0.1, 0.2, -0.3, 0.4], 7) == randomisation([0.1, 0.2, -0.3, 0.4], 7)


def test_holm_by_hand() -> None:
    # 0.01 · 4, then 0.02 · 3, then 0.03 · 2 and 0.2 · 1; none falls below the one before.
    assert holm([0.03, 0.01, 0.2, 0.02]) == pytest.approx([0.06, 0.04, 0.2, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
