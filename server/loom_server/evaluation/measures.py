"""What a ranking is worth, question by question, by ir-measures (trec_eval's own arithmetic).

    nDCG@10     linear gains, base-2 logarithm, ideal order of all judged keys
    R@k         relevant keys in the first k ÷ all relevant keys, also where there are more than k
    RR@10       1 ÷ the rank of the first relevant key, 0 beyond rank 10; its mean is MRR@10
    Success@1   1 where the first key is relevant

A key is relevant at a grade of 1 or more. The order is the one that was served: keys are handed over with
falling ranks as their scores, since trec_eval breaks equal scores by the document's name and the service by
a total order of its own. A question that got no rows counts 0 everywhere. Question without relevant keys have
no measure and are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

DEPTH = 10
"""Rows that are asked for."""

MEASURES = ("nDCG@10", "R@5", "R@10", "RR@10", "Success@1")
Values = Mapping[str, float]


def measured(
    rankings: Mapping[str, Sequence[str]], relevant: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, float]]:
    """Measure -> question -> value, for the questions of `relevant` that have a relevant key.

    `rankings` holds keys, best first, by question; a key that stands twice counts at its first place.
    """
    # It takes a fifth of a second to import, and no other command of the shell needs it.
    import ir_measures  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]

    library = cast("Any", ir_measures)
    judged = {question: dict(keys) for question, keys in relevant.items() if keys}
    run = {question: as_scores(rankings.get(question, ())) for question in judged}
    values = {name: dict.fromkeys(judged, 0.0) for name in MEASURES}
    if judged:
        for one in library.iter_calc([library.parse_measure(name) for name in MEASURES], judged, run):
            values[str(one.measure)][one.query_id] = float(one.value)
    return values


def as_scores(keys: Sequence[str]) -> dict[str, float]:
    """Falling scores that keep the order: the number of keys after each one, plus 1."""
    ordered = list(dict.fromkeys(keys))
    return {key: float(len(ordered) - place) for place, key in enumerate(ordered)}


def percentile(values: Sequence[float], share: float) -> float:
    """The least value that at least `share` of them do not exceed (nearest rank); 0 of none."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    place = -(-len(ordered) * share // 1)
    return ordered[max(1, int(place)) - 1]
