from __future__ import annotations

from itertools import pairwise

import pytest

from loom_server.evaluation.gates import Judgement, auroc, gate_figures, roc


def verdicts(answerable: bool, *told: tuple[bool, float, bool]) -> list[Judgement]:
    return [Judgement(answerable, abstained, confidence, found) for abstained, confidence, found in told]


def test_worked_figures() -> None:
    good = verdicts(True, (False, 0.9, True), (True, 0.4, True), (True, 0.2, False), (False, 0.6, False))
    bad = verdicts(False, (True, 0.1, False), (True, 0.3, False), (False, 0.6, False))
    found = gate_figures(good + bad)
    assert (found.answerable, found.unanswerable) == (4, 3)
    # Four abstains, two of them right; two of three unanswerable ones were caught.
    assert (found.precision, found.recall, found.f1) == pytest.approx((0.5, 2 / 3, 4 / 7))
    # Two of four answerable questions were given up, one of which had its answer in the first ten.
    assert (found.cost, found.lost) == pytest.approx((0.5, 0.25))
    # 0.9 beats three, 0.4 two, 0.2 one, 0.6 two and ties one: 8.5 of 12 pairs.
    assert found.auroc == pytest.approx(8.5 / 12)


def test_a_share_of_nothing_is_none() -> None:
    alone = gate_figures(verdicts(True, (False, 0.9, True)))
    assert (alone.precision, alone.recall, alone.f1, alone.auroc) == (None, None, None, None)
    assert (alone.cost, alone.lost) == (0.0, 0.0)
    silent = gate_figures(verdicts(True, (False, 0.9, True)) + verdicts(False, (False, 0.8, False)))
    assert (silent.precision, silent.recall, silent.f1) == (None, 0.0, 0.0)


def test_an_abstain_is_right_on_an_unanswerable_question_alone() -> None:
    assert [one.right for one in verdicts(False, (True, 0, False), (False, 0, False))] == [True, False]
    assert [one.right for one in verdicts(True, (True, 0, False), (False, 0, False))] == [False, True]


@pytest.mark.parametrize(
    ("good", "bad", "area"),
    [
        ([0.9, 0.8], [0.1, 0.2], 1.0),
        ([0.1], [0.9], 0.0),
        ([0.5, 0.5], [0.5], 0.5),
        ([], [0.1], None),
        ([0.1], [], None),
    ],
)
def test_auroc(good: list[float], bad: list[float], area: float | None) -> None:
    assert auroc(good, bad) == area


def test_the_curve_runs_from_nothing_to_everything_and_holds_the_area() -> None:
    good, bad = [0.9, 0.4, 0.2, 0.6], [0.1, 0.3, 0.6]
    points = roc(good, bad)
    assert (points[0], points[-1]) == ((0.0, 0.0), (1.0, 1.0))
    assert points == sorted(points)
    area = sum((x2 - x1) * (y1 + y2) / 2 for (x1, y1), (x2, y2) in pairwise(points))
    assert area == pytest.approx(auroc(good, bad))
    assert roc([], bad) == []
