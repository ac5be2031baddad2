"""The pool: every candidate of every leg once, with each leg's rank and raw score.

A leg's first `quota` candidates all enter: its reserved share of the fused window, which
no other leg can take. `known` scores of the fact leg give a cosine to rows that another
leg nominated; they bring no row of their own. Rows stand in the order of their ids, so
that nothing after this depends on which leg answered first.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from loom_server.fusion.order import rounded
from loom_server.model.candidate import EMPTY, Candidate, LegResult
from loom_server.model.plan import Plan

VECTOR_LEG = "fact"
"""The leg whose score is the row's `similarity`."""


def make_pool(results: Sequence[LegResult], plan: Plan) -> tuple[Candidate, ...]:
    """One candidate a row. Results of legs that the plan does not hold are passed over."""
    ranks: dict[int, dict[str, int]] = {}
    scores: dict[int, dict[str, float]] = {}
    matched: dict[int, int] = {}
    for result in results:
        name, leg = result.leg, plan.leg(result.leg)
        columns = zip(result.ids, result.scores, result.matched, strict=True)
        for rank, (row_id, score, mask) in enumerate(islice(columns, leg.quota if leg else 0), 1):
            if row_id in ranks:
                ranks[row_id][name], scores[row_id][name] = rank, rounded(score)
                matched[row_id] |= mask
            else:
                ranks[row_id], scores[row_id], matched[row_id] = {name: rank}, {name: rounded(score)}, mask
    cosines = _cosines(results, scores)
    return tuple(
        Candidate(row_id, ranks[row_id], scores[row_id], cosines.get(row_id), matched[row_id])
        for row_id in sorted(ranks)
    )


def _cosines(results: Sequence[LegResult], scores: dict[int, dict[str, float]]) -> dict[int, float]:
    """The cosines that came with the fact leg, of rows in the pool."""
    known = next((result.known for result in results if result.leg == VECTOR_LEG), EMPTY)
    cosines = {row_id: rounded(known[row_id]) for row_id in scores if row_id in known}
    cosines.update((row_id, legs[VECTOR_LEG]) for row_id, legs in scores.items() if VECTOR_LEG in legs)
    return cosines
