"""Whether a difference of paired values is more than chance: a randomisation test and a bootstrap interval.

    d        differences of the same questions, n of them
    p        (1 + #{|mean(s · d)| >= |mean(d)|}) / (1 + B), s random signs: two-sided, B = 10,000
    interval 2.5th and 97.5th percentile of the means of B resamples of d with replacement
    Holm     p-values of one table in rising order, the i-th of m times (m - i + 1), never falling, at most 1

Everything is drawn from one seed, so the same runs give the same figures. Questions count as independent; those of
one conversation are not quite, so intervals of sets with few conversations are too narrow. The least p is 1 / (B + 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

ROUNDS = 10_000
DESCRIBED = 2_000
"""Rounds of an interval that describes a mean and decides nothing."""

CONFIDENCE = 0.95
_CELLS = 2_000_000
_NOISE = 1e-12


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean of n values with its bootstrap interval."""

    n: int
    mean: float
    low: float
    high: float


def interval(values: Sequence[float], seed: int = 0, rounds: int = ROUNDS) -> Interval:
    """The mean and its 95 % interval; all zeros of no values."""
    if not len(values):
        return Interval(0, 0.0, 0.0, 0.0)
    one = np.asarray(values, dtype=np.float64)
    random = np.random.default_rng(seed)
    means = np.empty(rounds)
    rows = max(1, _CELLS // len(one))
    for start in range(0, rounds, rows):
        drawn = random.integers(0, len(one), (min(rows, rounds - start), len(one)), dtype=np.int32)
        means[start : start + rows] = one[drawn].mean(axis=1)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    return Interval(len(one), float(one.mean()), float(low), float(high))


def randomisation(differences: Sequence[float], seed: int = 0) -> float:
    """The two-sided p of the paired randomisation test; 1 where nothing differs."""
    changed = np.asarray([one for one in differences if one != 0], dtype=np.float64)
    if not len(changed):
        return 1.0
    observed = abs(float(changed.sum())) - _NOISE
    random = np.random.default_rng(seed)
    reached, rows = 0, max(1, _CELLS // len(changed))
    for start in range(0, ROUNDS, rows):
        signs = random.integers(0, 2, (min(rows, ROUNDS - start), len(changed)), dtype=np.int8) * 2 - 1
        reached += int((np.abs(signs @ changed) >= observed).sum())
    return (1 + reached) / (1 + ROUNDS)


def holm(values: Sequence[float]) -> list[float]:
    """Each p-value adjusted for all of them, in the order given."""
    adjusted = [0.0] * len(values)
    highest = 0.0
    for done, place in enumerate(sorted(range(len(values)), key=lambda one: values[one])):
        highest = max(highest, min(1.0, values[place] * (len(values) - done)))
        adjusted[place] = highest
    return adjusted
