from __future__ import annotations

import pytest

from judged_sets import a_set, answer, asked
from loom_server.evaluation.summary import Summary, categories, in_part, judgements, summarise

QUESTIONS = [
    asked("a", {"x": 1}, "dev", category="who"),
    asked("b", {"y": 1}, "held_out", category="who"),
    asked("c", {"z": 1}, "held_out", category="when"),
    asked("n", {}, "dev", "unanswerable"),
    asked("o", {}, "held_out", "off_topic"),
]
OFF = [answer("a", "x"), answer("b", "xy"), answer("c", "xy")]
ON = [
    answer("a", "x", abstain=False, confidence=0.9, ms=4.0),
    answer("b", "xy", abstain=True, confidence=0.2, ms=1.0),
    answer("c", "", abstain=True, confidence=0.0, ms=2.0),
    answer("n", "x", abstain=True, confidence=0.3, ms=3.0),
    answer("o", "x", abstain=False, confidence=0.6, ms=5.0),
]
SET = a_set("small", QUESTIONS, {("rrf", "off"): OFF, ("rrf", "on"): ON, ("oracle:rrf", "off"): OFF[:1]})


@pytest.fixture(scope="module")
def summary() -> Summary:
    return summarise(SET)


def test_ranking_is_of_the_row_without_the_floor(summary: Summary) -> None:
    found = {(line.label, line.part): line for line in summary.ranking}
    assert {key: line.n for key, line in found.items()} == {
        ("rrf", "all"): 3, ("rrf", "dev"): 1, ("rrf", "held_out"): 2,
        ("oracle:rrf", "all"): 1, ("oracle:rrf", "dev"): 1, ("oracle:rrf", "held_out"): 0,
    }  # fmt: skip
    assert {line.floor for line in summary.ranking} == {"off"}
    assert found["rrf", "all"].measures["RR@10"].mean == pytest.approx((1 + 0.5 + 0) / 3)
    assert found["rrf", "held_out"].measures["RR@10"].mean == pytest.approx(0.25)
    assert found["rrf", "all"].measures["Success@1"].mean == pytest.approx(1 / 3)


def test_ranking_is_of_the_row_as_shipped_where_there_is_no_other() -> None:
    found = summarise(a_set("small", QUESTIONS, {("rrf", "on"): ON})).ranking
    assert {line.floor for line in found} == {"on"}
    assert found[0].n == 3


def test_categories_stand_by_size(summary: Summary) -> None:
    assert categories(SET) == ["who", "when"]
    assert [(name, one.n) for name, one in summary.categories[0].means.items()] == [("who", 2), ("when", 1)]
    assert summary.categories[0].means["when"].mean == 0.0


def test_verdicts_are_judged_against_each_kind_apart_and_never_of_the_oracle(summary: Summary) -> None:
    found = {(line.label, line.against, line.part): line.figures for line in summary.gates}
    assert set(found) == {
        ("rrf", "unanswerable", "all"), ("rrf", "unanswerable", "dev"),
        ("rrf", "off_topic", "all"), ("rrf", "off_topic", "held_out"),
    }  # fmt: skip
    whole = found["rrf", "unanswerable", "all"]
    assert (whole.precision, whole.recall, whole.cost, whole.lost) == pytest.approx((1 / 3, 1.0, 2 / 3, 1 / 3))
    assert whole.auroc == pytest.approx(1 / 3)
    assert found["rrf", "off_topic", "held_out"].recall == 0.0


def test_times_are_of_every_shipped_search(summary: Summary) -> None:
    (line,) = summary.times
    assert (line.label, line.n, line.p50, line.p99, line.degraded) == ("rrf", 5, 3.0, 5.0, 0)


def test_parts_and_judgements() -> None:
    assert [one.id for one in in_part(QUESTIONS, "dev")] == ["a", "n"]
    row = SET.row("rrf", "on")
    assert row is not None
    assert list(judgements(SET, row, ("answerable",), "held_out")) == ["b", "c"]
    plain = SET.row("oracle:rrf", "off")
    assert plain is not None
    unknown = a_set("small", QUESTIONS, {("oracle:rrf", "off"): [answer("a", "x", abstain=None)]})
    assert judgements(unknown, unknown.rows[0], ("answerable",)) == {}
