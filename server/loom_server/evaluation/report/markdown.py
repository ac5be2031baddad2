"""Runs as Markdown, so that no figure of a page is typed by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from loom_server.evaluation.report.tables import Table, about_rows, overview, set_tables
from loom_server.evaluation.runfile import Run
from loom_server.evaluation.summary import Summary

_SIGNS = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[<>|#"})


def markdown(runs: Sequence[tuple[Run, Sequence[Summary]]]) -> str:
    """Every set of every run, where it comes from and its tables; first one table of all, where there are several."""
    return "\n\n".join(_blocks(runs)) + "\n"


def markdown_table(table: Table) -> str:
    """One table, with its note below. Signs that Markdown or HTML would read are escaped."""
    rows = [_row(map(_plain, row)) for row in table.rows]
    text = "\n".join([_row(map(_plain, table.head)), "|---" * len(table.head) + "|", *rows])
    return f"{text}\n\n{_plain(table.note)}" if table.note else text


def _blocks(runs: Sequence[tuple[Run, Sequence[Summary]]]) -> Iterator[str]:
    if sum(len(run.sets) for run, _ in runs) > 1:
        yield f"## All runs\n\n{markdown_table(overview(runs))}"
    for run, summaries in runs:
        for one, summary in zip(run.sets, summaries, strict=True):
            yield f"## {_plain(one.name)}, {_plain(run.about.embedder)}"
            yield "\n".join(f"- {name}: {_value(name, value)}" for name, value in about_rows(run, one))
            for table in set_tables(one, summary):
                yield f"### {table.title}\n\n{markdown_table(table)}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _value(name: str, value: str) -> str:
    return f"`{' '.join(value.replace('`', chr(39)).split())}`" if name == "command" else _plain(value)


def _plain(text: str) -> str:
    return " ".join(text.split()).translate(_SIGNS)
