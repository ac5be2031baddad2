"""What the verdict is worth: right abstains, their cost, and how well confidence tells the two apart.

    abstained   the search said that its rows do not answer; on an unanswerable question that is right
    precision   right abstains ÷ abstains             recall   right abstains ÷ unanswerable questions
    F1          2 · precision · recall ÷ (precision + recall)
    cost        answerable questions on which it abstained ÷ answerable questions
    lost        of those, the ones with a relevant key in the first ten ÷ answerable questions
    AUROC       P(confidence of an answerable > of an unanswerable) + ½ P(equal), over all pairs

A share of nothing is None: with no abstain there is no precision. AUROC ignores where the gate stands and is
½ for confidence that tells nothing. A search that failed in part is counted as it answered.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Judgement:
    """One verdict beside the truth. `found` says whether a relevant key stood in the first ten."""

    answerable: bool
    abstained: bool
    confidence: float
    found: bool = False

    @property
    def right(self) -> bool:
        """Whether it answered an answerable or abstained on an unanswerable question."""
        return self.answerable != self.abstained


@dataclass(frozen=True, slots=True)
class GateFigures:
    """Figures of many verdicts; None where there is nothing to take a share of."""

    answerable: int
    unanswerable: int
    precision: float | None
    recall: float | None
    f1: float | None
    auroc: float | None
    cost: float | None
    lost: float | None


def gate_figures(judgements: Sequence[Judgement]) -> GateFigures:
    """All figures over some verdicts."""
    good = [one for one in judgements if one.answerable]
    bad = [one for one in judgements if not one.answerable]
    right = sum(one.abstained for one in bad)
    wrong = sum(one.abstained for one in good)
    precision, recall = _share(right, right + wrong), _share(right, len(bad))
    both = (precision or 0.0) + (recall or 0.0)
    f1 = 2 * (precision or 0.0) * (recall or 0.0) / both if both else (0.0 if bad else None)
    return GateFigures(
        answerable=len(good),
        unanswerable=len(bad),
        precision=precision,
        recall=recall,
        f1=f1,
        auroc=auroc([one.confidence for one in good], [one.confidence for one in bad]),
        cost=_share(wrong, len(good)),
        lost=_share(sum(one.abstained and one.found for one in good), len(good)),
    )


def auroc(good: Sequence[float], bad: Sequence[float]) -> float | None:
    """The area under the ROC curve, ties counted half; None without both kinds."""
    if not good or not bad:
        return None
    ordered = sorted(bad)
    below = sum(bisect_left(ordered, one) + bisect_right(ordered, one) for one in good)
    return below / (2 * len(good) * len(bad))


def roc(good: Sequence[float], bad: Sequence[float]) -> list[tuple[float, float]]:
    """Points (share of unanswerable let through, share of answerable let through) as the gate opens, from (0, 0).

    A question is let through where its confidence is at or above a threshold; one point a distinct confidence.
    """
    if not good or not bad:
        return []
    up, down = sorted(good), sorted(bad)
    points = [(0.0, 0.0)]
    for threshold in sorted({*good, *bad}, reverse=True):
        through = (len(down) - bisect_left(down, threshold), len(up) - bisect_left(up, threshold))
        points.append((through[0] / len(down), through[1] / len(up)))
    return points


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
