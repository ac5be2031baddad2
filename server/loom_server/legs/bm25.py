"""BM25 leg: rare words weigh more, repetition saturates, long rows are damped.

    bm25 = Σ idf · tf (k1 + 1) / (tf + k1 (1 - b + b · dl / avgdl))  ÷  Σ idf · (k1 + 1)

over stems and whole identifiers, with N, df and avgdl of the namespace (Robertson and
Zaragoza 2009; k1 1.2, b 0.75). The divisor is the highest value that any row could
reach, so the score lies in [0, 1] and depends neither on the pool nor on other rows; a
word that nobody wrote stays in the divisor and lowers it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NAME = "bm25"
K1, B = 1.2, 0.75

SCORE = (
    f"round(sum(weight * tf * ({K1} + 1) / (tf + {K1} * (1 - {B} + {B} * dl / {{average_length:Float64}})))"
    " / {bm25_total:Float64}, 6)"
)
"""One row's score, over its postings grouped by id."""


def gains(
    weight: NDArray[np.float64], tf: NDArray[np.float64], dl: NDArray[np.float64], average_length: float
) -> NDArray[np.float64]:
    """What each posting adds to its row's score, before the divisor; the same formula as `SCORE`."""
    return weight * tf * (K1 + 1) / (tf + K1 * (1 - B + B * dl / average_length))


def total(weights: list[float]) -> float:
    """The divisor: the score of a row in which every term repeats without end."""
    return sum(weights) * (K1 + 1) or 1.0
