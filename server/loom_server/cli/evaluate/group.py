"""The commands of `loom eval`."""

from __future__ import annotations

import typer

from loom_server.cli.command import command, identity_command
from loom_server.cli.evaluate.compare import compare
from loom_server.cli.evaluate.report import report
from loom_server.cli.evaluate.run import run

evaluate = typer.Typer(
    help="Measure the search on judged questions: run them, compare two runs, report.", no_args_is_help=True
)
evaluate.command("run")(identity_command(run))
evaluate.command("compare")(command(compare))
evaluate.command("report")(command(report))
