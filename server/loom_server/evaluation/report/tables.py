"""The tables of a run and of a comparison as plain texts, whatever draws them: terminal, Markdown or HTML.

A share is shown with four digits where it is compared and with three elsewhere; "–" is a share of nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loom_server.evaluation.compare import Comparison, Difference
from loom_server.evaluation.measures import MEASURES
from loom_server.evaluation.runfile import Run, SetRun
from loom_server.evaluation.statistics import Interval
from loom_server.evaluation.summary import FIRST, RankingLine, Summary

NOTHING = "–"
HALF = {"all": "all", "dev": "dev", "held_out": "held out"}
KIND = {"unanswerable": "unanswerable", "off_topic": "off-topic"}
Cells = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table. Every row has as many cells as `head`."""

    title: str
    head: Cells
    rows: tuple[Cells, ...]
    note: str = ""


def set_tables(one: SetRun, summary: Summary) -> Iterator[Table]:
    """Ranking, the halves, categories, verdicts, time; a table without rows is left out."""
    tables = (_ranking(summary), _halves(summary), _categories(summary), _gates(summary), _times(summary))
    yield from (table for table in tables if table.rows)


def about_rows(run: Run, one: SetRun) -> tuple[tuple[str, str], ...]:
    """Where a set's figures come from."""
    about = run.about
    kinds = {kind: sum(asked.kind == kind for asked in one.questions) for kind in ("answerable", *KIND)}
    settings = ", ".join(f"{name}={value}" for name, value in about.settings.items()) or "the defaults"
    told = (
        ("command", about.command),
        ("data", f"{one.data_hash[:12]} ({one.shape})"),
        ("documents", f"{one.documents:,}, loaded in {one.load_s:,.1f} s" if one.documents else "those of the store"),
        ("questions", ", ".join(f"{number:,} {KIND.get(kind, kind)}" for kind, number in kinds.items() if number)),
        ("left out", "; ".join(one.notes)),
        ("limit", "" if about.limit is None else f"{about.limit:,} questions of each kind"),
        ("machine", about.machine),
        ("callers", str(about.callers)),
        ("date", about.at),
        ("versions", f"loom {about.loom}, {about.engine}, Python {about.python}"),
        ("embedder", about.embedder),
        ("settings", settings),
        ("seed", str(about.seed)),
    )
    return tuple((name, value) for name, value in told if value)


def overview(runs: Sequence[tuple[Run, Sequence[Summary]]]) -> Table:
    """Each set, embedder and mode in a row, for all runs."""
    rows = tuple(
        (one.name, run.about.embedder, line.label, f"{line.n:,}", *map(_with_range, _means(line)), held(summary, line))
        for run, summaries in runs
        for one, summary in zip(run.sets, summaries, strict=True)
        for line in summary.ranking
        if line.part == "all"
    )
    head = ("set", "embedder", "mode", "n", FIRST, "R@10", f"{FIRST} held out")
    return Table("All runs", head, rows, "Means over the answerable questions, with a 95 % bootstrap interval.")


def held(summary: Summary, line: RankingLine) -> str:
    """nDCG@10 of the same label on the held-out half."""
    same = (one for one in summary.ranking if (one.label, one.part) == (line.label, "held_out"))
    return next((_four(one.measures[FIRST].mean) for one in same if one.n), NOTHING)


def comparison_tables(comparison: Comparison) -> Iterator[Table]:
    """The differences, then the questions that changed most."""
    head = (
        "set",
        "first",
        "second",
        "measure",
        "n",
        "of first",
        "of second",
        "difference",
        "p",
        "Holm",
        "won/tied/lost",
    )
    note = (
        f"Second minus first, the same questions ({_parts(comparison.differences)}); 95 % bootstrap interval, paired "
        f"randomisation test, p adjusted by Holm's method for {len(comparison.differences)} comparisons."
    )
    yield Table("Differences", head, tuple(map(_difference, comparison.differences)), note + _caveats(comparison))
    rows = tuple(
        (one.name, one.first, one.second, one.question, _three(one.before), _three(one.after))
        for one in comparison.changes
    )
    if rows:
        yield Table(
            f"Questions whose {FIRST} changed most",
            ("set", "first", "second", "question", "of first", "of second"),
            rows,
        )


def _ranking(summary: Summary) -> Table:
    rows = tuple(
        (line.label, line.floor, f"{line.n:,}", _with_range(line.measures[FIRST]), *_others(line))
        for line in summary.ranking
        if line.part == "all" and line.n
    )
    note = f"{FIRST} with a 95 % bootstrap interval. Floor off: sent with min_similarity -1; on: as shipped."
    return Table("Ranking", ("mode", "floor", "n", *MEASURES), rows, note)


def _halves(summary: Summary) -> Table:
    rows = tuple(
        (line.label, HALF[line.part], f"{line.n:,}", _with_range(line.measures[FIRST]), *_others(line))
        for line in summary.ranking
        if line.part != "all" and line.n
    )
    return Table("Ranking by half", ("mode", "half", "n", *MEASURES), rows, "Choose on dev, report what is held out.")


def _categories(summary: Summary) -> Table:
    names = list(summary.categories[0].means) if summary.categories else []
    sizes = {name: max(line.means[name].n for line in summary.categories) for name in names}
    head = ("mode", *(f"{name} ({sizes[name]:,})" for name in names))
    rows = tuple((line.label, *(_three(line.means[name].mean) for name in names)) for line in summary.categories)
    return Table(f"{FIRST} by category", head, rows if names else ())


def _gates(summary: Summary) -> Table:
    rows = tuple(
        (
            *(line.label, KIND[line.against], HALF[line.part]),
            *(f"{line.figures.answerable:,}", f"{line.figures.unanswerable:,}"),
            *map(_share, (line.figures.precision, line.figures.recall, line.figures.f1, line.figures.auroc)),
            *map(_share, (line.figures.cost, line.figures.lost)),
        )
        for line in summary.gates
    )
    head = ("mode", "against", "half", "answerable", "not", "precision", "recall", "F1", "AUROC", "cost", "lost")
    note = (
        "As shipped. Precision, recall and F1 are of the abstain; AUROC is of the confidence. Of the answerable "
        "questions, cost is the share on which it abstained, lost the share given up with an answer in the first ten."
    )
    return Table("Verdict", head, rows, note)


def _times(summary: Summary) -> Table:
    rows = tuple(
        (line.label, f"{line.n:,}", *(f"{one:.1f}" for one in (line.p50, line.p95, line.p99)), f"{line.degraded:,}")
        for line in summary.times
    )
    head = ("mode", "searches", "p50 ms", "p95 ms", "p99 ms", "degraded")
    return Table("Time", head, rows, "As shipped, from call to answer in the process of the run or over its door.")


def _means(line: RankingLine) -> tuple[Interval, Interval]:
    return line.measures[FIRST], line.measures["R@10"]


def _others(line: RankingLine) -> Cells:
    return tuple(_four(line.measures[name].mean) for name in MEASURES[1:])


def _difference(one: Difference) -> Cells:
    gain = f"{one.gain.mean:+.4f} [{one.gain.low:+.3f}, {one.gain.high:+.3f}]"
    means = (_four(one.means[0]), _four(one.means[1]))
    counts = f"{one.wins}/{one.ties}/{one.losses}"
    head = (one.name, one.first, one.second, one.measure, f"{one.gain.n:,}")
    return (*head, *means, gain, _p(one.p), _p(one.adjusted), counts)


def _parts(differences: Sequence[Difference]) -> str:
    return HALF[differences[0].part] if differences else "none"


def _caveats(comparison: Comparison) -> str:
    left = sorted({(one.name, one.left_out) for one in comparison.differences if one.left_out})
    mixed = any(one.floors[0] != one.floors[1] for one in comparison.differences)
    told = "".join(f" {name}: {number:,} questions were asked on one side only and left out." for name, number in left)
    return f"{told} Some pairs differ in the floor." if mixed else told


def _with_range(one: Interval) -> str:
    return f"{one.mean:.4f} [{one.low:.3f}, {one.high:.3f}]" if one.n else NOTHING


def _share(value: float | None) -> str:
    return NOTHING if value is None else _three(value)


def _three(value: float) -> str:
    return f"{value:.3f}"


def _four(value: float) -> str:
    return f"{value:.4f}"


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else "< 0.0001"
