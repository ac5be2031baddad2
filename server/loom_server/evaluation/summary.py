"""A set's figures: ranking with intervals, the verdict with its cost, time, each by half.

    half       "all", "dev" (choose on it) and "held_out" (report it)
    ranking    the row without the floor where the run has one, else the row as shipped
    verdict    the row as shipped; against the set's own unanswerable questions and against off-topic ones, apart
    time       the row as shipped, every kind of question

Nothing here asks anything: a run file is all it reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from loom_server.evaluation.gates import GateFigures, Judgement, gate_figures
from loom_server.evaluation.measures import MEASURES, measured, percentile
from loom_server.evaluation.questions import Asked, Kind
from loom_server.evaluation.runfile import Answer, Floor, Row, SetRun
from loom_server.evaluation.statistics import DESCRIBED, Interval, interval

Part = Literal["all", "dev", "held_out"]
PARTS: tuple[Part, ...] = ("all", "dev", "held_out")
AGAINST: tuple[Kind, ...] = ("unanswerable", "off_topic")
FIRST = MEASURES[0]
Values = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class RankingLine:
    """A label's measures over a part of a set's answerable questions."""

    label: str
    floor: Floor
    part: Part
    n: int
    measures: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class CategoryLine:
    """A label's mean nDCG@10 by category of the set; categories by falling size."""

    label: str
    means: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class GateLine:
    """A label's verdicts over a part: answerable questions against one kind of the others."""

    label: str
    part: Part
    against: Kind
    figures: GateFigures


@dataclass(frozen=True, slots=True)
class TimeLine:
    """Milliseconds of a label's searches, and how many ran in part only."""

    label: str
    n: int
    p50: float
    p95: float
    p99: float
    degraded: int


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a set."""

    ranking: tuple[RankingLine, ...]
    categories: tuple[CategoryLine, ...]
    gates: tuple[GateLine, ...]
    times: tuple[TimeLine, ...]


def summarise(one: SetRun, seed: int = 0) -> Summary:
    """The figures of a set; intervals are drawn from `seed`."""
    rows = [row for label in one.labels if (row := one.ranking(label)) is not None]
    valued = [(row, row_values(one, row)) for row in rows]
    shipped = [row for label in one.labels if (row := one.row(label, "on")) is not None]
    return Summary(
        tuple(line for row, values in valued for line in _ranking(one, row, values, seed)),
        tuple(_category(one, row, values, seed) for row, values in valued),
        tuple(line for row in shipped for line in _gates(one, row)),
        tuple(_time(row) for row in shipped),
    )


def row_values(one: SetRun, row: Row) -> dict[str, dict[str, float]]:
    """Measure -> question -> value, of the answerable questions that the row was asked."""
    rankings = {answer.id: answer.keys for answer in row.answers}
    relevant = {asked.id: asked.relevant for asked in one.questions if asked.id in rankings}
    return measured(rankings, relevant)


def judgements(one: SetRun, row: Row, kinds: Sequence[Kind], part: Part = "all") -> dict[str, Judgement]:
    """The verdicts of a row over questions of some kinds, by question. The oracle has none."""
    asked = {each.id: each for each in in_part(one.questions, part) if each.kind in kinds}
    return {
        answer.id: _judgement(asked[answer.id], answer)
        for answer in row.answers
        if answer.id in asked and answer.abstain is not None
    }


def in_part(questions: Sequence[Asked], part: Part) -> list[Asked]:
    """The questions of a half, or all."""
    return [one for one in questions if part in ("all", one.half)]


def categories(one: SetRun) -> list[str]:
    """Categories of the answerable questions, by falling size and then by name; none where a set has none."""
    sizes = Counter(asked.category for asked in one.questions if asked.relevant and asked.category)
    return sorted(sizes, key=lambda name: (-sizes[name], name))


def _judgement(asked: Asked, answer: Answer) -> Judgement:
    found = any(key in asked.relevant for key in answer.keys)
    return Judgement(bool(asked.relevant), bool(answer.abstain), answer.confidence or 0.0, found)


def _ranking(one: SetRun, row: Row, values: Values, seed: int) -> Iterator[RankingLine]:
    for part in PARTS:
        ids = [asked.id for asked in in_part(one.questions, part) if asked.id in values[FIRST]]
        of = {name: interval([values[name][each] for each in ids], seed, DESCRIBED) for name in MEASURES}
        yield RankingLine(row.label, row.floor, part, len(ids), of)


def _category(one: SetRun, row: Row, values: Values, seed: int) -> CategoryLine:
    means = {
        name: interval(
            [values[FIRST][each.id] for each in one.questions if each.category == name and each.id in values[FIRST]],
            seed,
            DESCRIBED,
        )
        for name in categories(one)
    }
    return CategoryLine(row.label, means)


def _gates(one: SetRun, row: Row) -> Iterator[GateLine]:
    for against in AGAINST:
        for part in PARTS:
            found = judgements(one, row, ("answerable", against), part)
            figures = gate_figures(list(found.values()))
            if figures.unanswerable:
                yield GateLine(row.label, part, against, figures)


def _time(row: Row) -> TimeLine:
    took = [answer.ms for answer in row.answers]
    p50, p95, p99 = (percentile(took, share) for share in (0.5, 0.95, 0.99))
    return TimeLine(row.label, len(took), p50, p95, p99, sum(bool(answer.degraded) for answer in row.answers))
