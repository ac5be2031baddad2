"""Two runs, or two modes of one run, question by question.

    difference   second - first, of the same question in both; mean, 95 % bootstrap interval, wins / ties / losses
    p            paired randomisation test; `adjusted` is Holm's over all comparisons made in this call
    changed      the questions whose nDCG@10 differs most

Measures are those of rankings, and `verdict`: 1 where the search answered an answerable question or abstained on
another. Sets are matched by name, and refused where their data hashes differ: figures of different data are not
comparable. Questions are matched by id; those that only one side was asked are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from loom_server.errors import InvalidInput
from loom_server.evaluation.measures import MEASURES
from loom_server.evaluation.runfile import Floor, Row, Run, SetRun
from loom_server.evaluation.statistics import Interval, holm, interval, randomisation
from loom_server.evaluation.summary import FIRST, Part, in_part, judgements, row_values

VERDICT = "verdict"
MOST_CHANGED = 10
_EVEN = 1e-9
Values = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Difference:
    """One measure of one pair of rows. `left_out` questions were asked on one side only."""

    name: str
    first: str
    second: str
    measure: str
    part: Part
    means: tuple[float, float]
    gain: Interval
    p: float
    adjusted: float
    wins: int
    ties: int
    losses: int
    left_out: int
    floors: tuple[Floor, Floor]


@dataclass(frozen=True, slots=True)
class Change:
    """A question whose nDCG@10 differs."""

    name: str
    first: str
    second: str
    question: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two sides differ in."""

    differences: tuple[Difference, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which labels are set side by side; `part` is the half that is compared."""

    labels: tuple[tuple[str, str], ...] = ()
    part: Part = "all"
    seed: int = 0


def compare(first: Run, second: Run, pairing: Pairing) -> Comparison:
    """The comparison of the sets that both runs have; labels that both have where none are paired.

    Raises `InvalidInput` where the runs share no set or no label, or a shared set is of different data.
    """
    differences: list[Difference] = []
    changes: list[Change] = []
    for one, other in _shared(first, second):
        pairs = pairing.labels or tuple((label, label) for label in one.labels if label in other.labels)
        for label, beside in pairs:
            rows = _ranking(one, label), _ranking(other, beside)
            values = row_values(one, rows[0]), row_values(other, rows[1])
            differences += [
                _difference(one, rows, measure, (values[0][measure], values[1][measure]), pairing)
                for measure in MEASURES
            ]
            changes += _changes(one, rows, (values[0][FIRST], values[1][FIRST]), pairing)
            differences += _verdicts(one, other, (label, beside), pairing)
    if not differences:
        raise InvalidInput("The runs share no mode; name two with --mode and --against.")
    adjusted = holm([one.p for one in differences])
    told = tuple(replace(one, adjusted=p) for one, p in zip(differences, adjusted, strict=True))
    return Comparison(told, tuple(changes))


def _shared(first: Run, second: Run) -> list[tuple[SetRun, SetRun]]:
    pairs = [(one, other) for one in first.sets if (other := second.named(one.name)) is not None]
    if not pairs:
        raise InvalidInput("The runs share no set.")
    for one, other in pairs:
        if one.data_hash != other.data_hash:
            raise InvalidInput(
                f"{one.name}: the runs were made on different data ({one.data_hash[:12]} and {other.data_hash[:12]}); "
                "run both on the same files."
            )
    return pairs


def _ranking(one: SetRun, label: str) -> Row:
    row = one.ranking(label)
    if row is None:
        raise InvalidInput(f"{one.name}: the run has no row {label!r}; it has {', '.join(one.labels)}.")
    return row


def _difference(
    one: SetRun, rows: tuple[Row, Row], measure: str, values: tuple[Mapping[str, float], Mapping[str, float]],
    pairing: Pairing
) -> Difference:  # fmt: skip
    before, after = values
    inside = {each.id for each in in_part(one.questions, pairing.part)}
    ids = [each for each in before if each in after and each in inside]
    gains = [after[each] - before[each] for each in ids]
    return Difference(
        name=one.name,
        first=rows[0].label,
        second=rows[1].label,
        measure=measure,
        part=pairing.part,
        means=(_mean([before[each] for each in ids]), _mean([after[each] for each in ids])),
        gain=interval(gains, pairing.seed),
        p=randomisation(gains, pairing.seed),
        adjusted=1.0,
        wins=sum(gain > _EVEN for gain in gains),
        ties=sum(abs(gain) <= _EVEN for gain in gains),
        losses=sum(gain < -_EVEN for gain in gains),
        left_out=len(before.keys() ^ after.keys()),
        floors=(rows[0].floor, rows[1].floor),
    )


def _verdicts(one: SetRun, other: SetRun, labels: tuple[str, str], pairing: Pairing) -> Iterator[Difference]:
    """The verdicts as shipped, where both sides gave any."""
    rows = one.row(labels[0], "on"), other.row(labels[1], "on")
    if rows[0] is None or rows[1] is None:
        return
    kinds = ("answerable", "unanswerable", "off_topic")
    before, after = (
        {each: float(judged.right) for each, judged in judgements(side, row, kinds).items()}
        for side, row in zip((one, other), rows, strict=True)
        if row is not None
    )
    yield _difference(one, (rows[0], rows[1]), VERDICT, (before, after), pairing)


def _changes(
    one: SetRun, rows: tuple[Row, Row], values: tuple[Mapping[str, float], Mapping[str, float]], pairing: Pairing
) -> list[Change]:
    before, after = values
    inside = [each.id for each in in_part(one.questions, pairing.part) if each.id in before and each.id in after]
    changed = [each for each in inside if abs(after[each] - before[each]) > _EVEN]
    most = sorted(changed, key=lambda each: (-abs(after[each] - before[each]), each))[:MOST_CHANGED]
    return [Change(one.name, rows[0].label, rows[1].label, each, before[each], after[each]) for each in most]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
