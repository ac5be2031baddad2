"""Where a command writes: data to stdout, everything else to stderr.

Colours, boxes and bars are for terminals; `NO_COLOR` and a pipe get plain text, and with `--json`
stdout carries one JSON value and nothing else. Values are printed as they are, never as markup.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

import orjson
from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

PIPE_COLUMNS = 120
"""Width of tables that no terminal bounds."""

Advance = Callable[[float, str], None]
"""Told how much is done, in [0, 1], and what is at work."""


@dataclass(frozen=True, slots=True)
class Screen:
    """The two streams of a command."""

    out: Console
    err: Console
    as_json: bool = False

    @classmethod
    def open(cls, as_json: bool = False) -> Screen:
        """On this process's own streams."""
        return cls(_console(stderr=False), _console(stderr=True), as_json)

    def data(self, value: object) -> None:
        """The one JSON value of a `--json` run."""
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def show(self, *parts: RenderableType) -> None:
        """Draw for people; left out with `--json`. A plain line is not broken, so that it can be copied."""
        if not self.as_json:
            for part in parts:
                self.out.print(part, soft_wrap=isinstance(part, str))

    def say(self, text: str, style: str = "") -> None:
        """A line beside the data."""
        self.err.print(Text(text, style=style), soft_wrap=True)

    @contextmanager
    def progress(self, title: str) -> Generator[Advance]:
        """A bar while the block runs; silent where stderr is no terminal."""
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
        with Progress(
            *columns,
            TimeElapsedColumn(),
            TextColumn("{task.fields[at]}", markup=False, style="dim"),
            console=self.err,
            transient=True,
            disable=not self.err.is_terminal,
        ) as bar:
            task = bar.add_task(title, total=1.0, at="")

            def advance(done: float, at: str) -> None:
                bar.update(task, completed=done, at=at)

            yield advance


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 file`, `2 files`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _console(*, stderr: bool) -> Console:
    # Under NO_COLOR rich drops the colours and keeps bold and dim, which are escapes too.
    colours = None if os.environ.get("NO_COLOR") else "auto"
    console = Console(stderr=stderr, color_system=colours, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = PIPE_COLUMNS
    return console
