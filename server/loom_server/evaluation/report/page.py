"""Runs as one HTML page that needs nothing else: no script, no font, no address beyond itself.

Every set of every run has a section: where its figures come from, then each figure with its table. Text that comes
from data is escaped. Light or dark as the reader's system is, and black on white in print.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from loom_server.evaluation.gates import roc
from loom_server.evaluation.measures import percentile
from loom_server.evaluation.report import svg
from loom_server.evaluation.report.style import STYLE
from loom_server.evaluation.report.tables import KIND, Table, about_rows, overview, set_tables
from loom_server.evaluation.runfile import ORACLE, Row, Run, SetRun
from loom_server.evaluation.summary import AGAINST, FIRST, Summary, judgements

TITLE = "Loom Recall, evaluation"
_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def page(runs: Sequence[tuple[Run, Sequence[Summary]]]) -> str:
    """The whole page."""
    sections = "".join(_sections(runs))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{TITLE}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<style>{STYLE}</style></head><body><main><h1>{TITLE}</h1>{sections}</main></body></html>\n"
    )


def _sections(runs: Sequence[tuple[Run, Sequence[Summary]]]) -> Iterator[str]:
    pairs = [(run, one, summary) for run, some in runs for one, summary in zip(run.sets, some, strict=True)]
    if len(pairs) > 1:
        links = "".join(
            f'<li><a href="#s{number}">{escape(one.name)}, {escape(run.about.embedder)}</a></li>'
            for number, (run, one, _) in enumerate(pairs)
        )
        yield f"<nav aria-label='Sets'><ul>{links}</ul></nav><section>{_table(overview(runs), 2)}</section>"
    for number, (run, one, summary) in enumerate(pairs):
        head = f'<h2 id="s{number}">{escape(one.name)}, {escape(run.about.embedder)}</h2>'
        yield f"<section>{head}{_about(run, one)}{''.join(_body(one, summary))}</section>"


def _about(run: Run, one: SetRun) -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in about_rows(run, one))
    return f"<dl>{rows}</dl>"


def _body(one: SetRun, summary: Summary) -> Iterator[str]:
    figures = {"Ranking": _bars(one, summary), "Verdict": _verdicts(one), "Time": _times(one)}
    for table in set_tables(one, summary):
        yield _table(table, 3, figures.get(table.title, ""))


def _table(table: Table, level: int, figure: str = "") -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.head)
    rows = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row[1:])}</tr>'
        for row in table.rows
    )
    note = f"<p>{escape(table.note)}</p>" if table.note else ""
    title = f"<h{level}>{escape(table.title)}</h{level}>"
    drawn = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'{title}{figure}<div class="wide" tabindex="0">{drawn}</div>{note}'


def _bars(one: SetRun, summary: Summary) -> str:
    lines = [line for line in summary.ranking if line.part == "all" and line.n]
    some = [
        svg.Bar(line.label, found.mean, found.low, found.high, line.label.startswith(ORACLE))
        for line in lines
        for found in (line.measures[FIRST],)
    ]
    best = max(some, key=lambda bar: bar.value, default=None)
    said = f"{len(some)} modes; the highest is {best.label} at {best.value:.3f}." if best else "No mode."
    return _figure(svg.bars(f"{FIRST} by mode, {one.name}", said, some), f"{FIRST}, with 95 % intervals.")


def _times(one: SetRun) -> str:
    rows = _shipped(one)
    some: list[svg.Spread] = []
    for row in rows:
        took = [answer.ms for answer in row.answers]
        low, first, half, third, high, far = (percentile(took, share) for share in _SHARES)
        some.append(svg.Spread(row.label, (low, first, half, third, high, far)))
    said = "; ".join(
        f"{one.label}: half within {one.points[2]:.1f} ms, 99 of 100 within {one.points[5]:.1f}" for one in some
    )
    told = "Box: the middle half; line: 5th to 95th percentile; bar: median; dot: 99th."
    return _figure(svg.spreads(f"Milliseconds a search by mode, {one.name}", said or "None.", some, "ms"), told)


def _verdicts(one: SetRun) -> str:
    """Two small figures a mode."""
    drawn = "".join(
        f"<div><h4>{escape(row.label)}</h4>{_curve(one, row)}{_confidence(one, row)}</div>" for row in _shipped(one)
    )
    return f'<div class="grid">{drawn}</div>'


def _curve(one: SetRun, row: Row) -> str:
    good = _sure(one, row, "answerable")
    some = [
        svg.Series(f"against {KIND[kind]}", place, roc(good, bad))
        for place, kind in enumerate(AGAINST, start=1)
        if (bad := _sure(one, row, kind))
    ]
    said = "How many answerable questions are let through for how many of the others; the diagonal is chance."
    axes = ("others let through", "answerable let through")
    return svg.curves(f"ROC curve of {row.label}, {one.name}", said, some, axes)


def _confidence(one: SetRun, row: Row) -> str:
    kinds = ("answerable", *AGAINST)
    some = [svg.Series(KIND.get(kind, kind), place, values=_sure(one, row, kind)) for place, kind in enumerate(kinds)]
    means = "; ".join(f"{each.name}: mean {sum(each.values) / len(each.values):.2f}" for each in some if each.values)
    axes = ("confidence", "share of questions")
    return svg.histogram(f"Confidence of {row.label}, {one.name}", means or "None.", some, axes)


def _sure(one: SetRun, row: Row, kind: str) -> list[float]:
    found = judgements(one, row, tuple(each for each in ("answerable", *AGAINST) if each == kind))
    return [judged.confidence for judged in found.values()]


def _shipped(one: SetRun) -> list[Row]:
    return [row for row in one.rows if (row.system, row.floor) == ("loom", "on")]


def _figure(drawn: str, told: str) -> str:
    return f"<figure>{drawn}<figcaption>{escape(told)}</figcaption></figure>"
