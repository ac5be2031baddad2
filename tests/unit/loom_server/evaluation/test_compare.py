from __future__ import annotations

from dataclasses import replace

import pytest

from judged_sets import a_run, a_set, answer, asked
from loom_server.errors import InvalidInput
from loom_server.evaluation.compare import Pairing, compare

QUESTIONS = [asked(f"q{number}", {"x": 1}, "dev" if number % 2 else "held_out") for number in range(6)]
OTHERS = [*QUESTIONS, asked("n", {}, "dev", "unanswerable")]
BEFORE = [answer(one.id, "ax", abstain=True) for one in QUESTIONS]
AFTER = [answer(one.id, "xa" if one.id != "q5" else "aax", abstain=False) for one in QUESTIONS]


def run_of(some: list, name: str = "small", data: str = "d" * 64):
    return a_run(
        a_set(name, OTHERS, {("rrf", "off"): some, ("rrf", "on"): [*some, answer("n", "a", abstain=True)]}, data)
    )


def test_worked_differences() -> None:
    found = {one.measure: one for one in compare(run_of(BEFORE), run_of(AFTER), Pairing()).differences}
    first = found["Success@1"]
    assert (first.means, first.gain.mean, first.gain.n) == (pytest.approx((0.0, 5 / 6)), pytest.approx(5 / 6), 6)
    assert (first.wins, first.ties, first.losses) == (5, 1, 0)
    # Five equal differences: all signs or none, 2 of 32.
    assert first.p == pytest.approx(2 / 32, abs=0.01)
    assert first.adjusted == pytest.approx(min(1.0, first.p * len(found)), abs=0.1)
    assert found["R@10"].p == 1.0
    reciprocal = found["RR@10"]
    assert reciprocal.gain.mean == pytest.approx((5 * 0.5 + 0) / 6)
    verdict = found["verdict"]
    assert (verdict.means, verdict.gain.n) == (pytest.approx((1 / 7, 1.0)), 7)


def test_the_questions_that_changed_most_come_first() -> None:
    worse = [answer(one.id, "x" if one.id == "q0" else "ax", abstain=True) for one in QUESTIONS]
    more = [answer(one.id, "" if one.id == "q3" else "ax", abstain=True) for one in QUESTIONS]
    changes = compare(run_of(worse), run_of(more), Pairing()).changes
    assert [(one.question, round(one.before, 3), round(one.after, 3)) for one in changes] == [
        ("q3", 0.631, 0.0),
        ("q0", 1.0, 0.631),
    ]


def test_a_half_can_be_compared_alone() -> None:
    found = compare(run_of(BEFORE), run_of(AFTER), Pairing(part="held_out")).differences
    assert {one.measure: one.gain.n for one in found} == {
        "nDCG@10": 3, "R@5": 3, "R@10": 3, "RR@10": 3, "Success@1": 3, "verdict": 3,
    }  # fmt: skip


def test_two_modes_of_one_run_are_paired() -> None:
    one = a_run(a_set("small", QUESTIONS, {("rrf", "off"): BEFORE, ("oracle:rrf", "off"): AFTER}))
    found = compare(one, one, Pairing((("oracle:rrf", "rrf"),))).differences
    assert {(each.first, each.second) for each in found} == {("oracle:rrf", "rrf")}
    assert "verdict" not in {each.measure for each in found}


def test_a_question_that_one_side_was_not_asked_is_counted_and_left_out() -> None:
    found = compare(run_of(BEFORE), run_of(AFTER[:4]), Pairing()).differences
    assert {(one.measure, one.gain.n, one.left_out) for one in found if one.measure != "verdict"} == {
        (name, 4, 2) for name in ("nDCG@10", "R@5", "R@10", "RR@10", "Success@1")
    }


def test_runs_that_cannot_be_compared() -> None:
    with pytest.raises(InvalidInput, match=r"small: the runs were made on different data \(dddddddddddd and eeee"):
        compare(run_of(BEFORE), run_of(AFTER, data="e" * 64), Pairing())
    with pytest.raises(InvalidInput, match="share no set"):
        compare(run_of(BEFORE), run_of(AFTER, name="other"), Pairing())
    with pytest.raises(InvalidInput, match="has no row 'lexical'; it has rrf"):
        compare(run_of(BEFORE), run_of(AFTER), Pairing((("rrf", "lexical"),)))
    other = run_of(AFTER)
    bare = replace(other, sets=(replace(other.sets[0], rows=()),))
    with pytest.raises(InvalidInput, match="share no mode"):
        compare(run_of(BEFORE), bare, Pairing())
