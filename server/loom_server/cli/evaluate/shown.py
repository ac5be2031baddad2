"""The tables of an evaluation on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table as Drawn
from rich.text import Text

from loom_server.cli.screen import Screen
from loom_server.evaluation.report.tables import Table, about_rows, set_tables
from loom_server.evaluation.runfile import Run
from loom_server.evaluation.summary import Summary


def show_run(screen: Screen, run: Run, summaries: Sequence[Summary]) -> None:
    """Each set of a run: where its figures come from, then its tables."""
    for one, summary in zip(run.sets, summaries, strict=True):
        screen.show(Text(one.name, style="bold"), *(f"{name}: {value}" for name, value in about_rows(run, one)))
        show_tables(screen, set_tables(one, summary))


def show_tables(screen: Screen, tables: Iterator[Table]) -> None:
    """Tables with their titles and notes."""
    for table in tables:
        screen.show(*_drawn(table))


def _drawn(table: Table) -> Iterator[RenderableType]:
    yield Text(f"\n{table.title}", style="bold")
    drawn = Drawn(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for place, name in enumerate(table.head):
        drawn.add_column(Text(name), no_wrap=place == 0, overflow="fold")
    for row in table.rows:
        drawn.add_row(*map(Text, row))
    yield drawn
    if table.note:
        yield Text(table.note, style="dim")
