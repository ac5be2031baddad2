"""`loom eval report`: run files as one HTML page, or as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loom_server.cli.command import DONE, Shell
from loom_server.errors import InvalidInput
from loom_server.evaluation.report.markdown import markdown as as_markdown
from loom_server.evaluation.report.page import page
from loom_server.evaluation.runfile import read_run
from loom_server.evaluation.summary import summarise

Runs = Annotated[list[Path], typer.Argument(help="Run files.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write here; else to stdout.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Tables in Markdown instead of a page.")]


def report(shell: Shell, runs: Runs, out: Out = None, markdown: Markdown = False) -> int:
    """Draw runs as one page of HTML that needs nothing else, or as Markdown."""
    read = [read_run(path) for path in runs]
    told = [(run, [summarise(one, run.about.seed) for one in run.sets]) for run in read]
    text = as_markdown(told) if markdown else page(told)
    if out is not None:
        try:
            out.write_text(text, encoding="utf-8")
        except OSError as error:
            raise InvalidInput(f"{out}: cannot be written ({error.strerror}).") from None
        shell.screen.say(f"Wrote {out}.")
    if shell.screen.as_json:
        shell.screen.data({"runs": list(map(str, runs)), "out": None if out is None else str(out), "text": text})
    elif out is None:
        typer.echo(text, nl=False)
    return DONE
