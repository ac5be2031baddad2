"""What every mode orders by: scores to 1e-6, and ranks that depend on scores alone.

Sums made in parallel differ in their last bits from run to run, so scores are compared
only after rounding. The final order of rows is `Ranked.order_key`; inside a fusion no key
is known yet, so equal rows share a rank ("1, 2, 2, 4") instead of falling by chance.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum

from loom_server.model.candidate import Candidate, Relevance

DIGITS = 6


def rounded(score: float) -> float:
    """A score as it may be compared."""
    return round(score, DIGITS)


def cosine(candidate: Candidate) -> float:
    """The row's cosine; 0 where it has no vector of the live model."""
    return 0.0 if candidate.similarity is None else candidate.similarity


def relevance_of(tie: float, *components: tuple[str, float]) -> Relevance:
    """A relevance whose components add up to its score to the last bit."""
    return Relevance(fsum(amount for _, amount in components), tie, components)


def shared_ranks(rows: Iterable[tuple[int, float, float]]) -> dict[int, int]:
    """Ranks from 1, best first, of rows given as (id, score, other order's score).

    Rows equal in both share the rank of the first of them; the next row's rank counts
    all rows before it.
    """
    ordered = sorted(((-score, -other, row_id) for row_id, score, other in rows))
    ranks: dict[int, int] = {}
    rank, last = 0, None
    for place, (score, other, row_id) in enumerate(ordered, 1):
        if (score, other) != last:
            rank, last = place, (score, other)
        ranks[row_id] = rank
    return ranks
