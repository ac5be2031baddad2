"""`loom eval compare`: two runs, or two modes of one, question by question."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from loom_server.cli.command import DONE, Shell
from loom_server.cli.evaluate.shown import show_tables
from loom_server.errors import InvalidInput
from loom_server.evaluation.compare import Pairing
from loom_server.evaluation.compare import compare as compared
from loom_server.evaluation.report.tables import comparison_tables
from loom_server.evaluation.runfile import read_run

First = Annotated[Path, typer.Argument(help="A run file.")]
Second = Annotated[Path | None, typer.Argument(help="Another one; left out, two modes of the first are compared.")]
Mode = Annotated[str | None, typer.Option("--mode", "-m", help="Only this mode; oracle:MODE is the plain ranking.")]
Against = Annotated[str | None, typer.Option("--against", help="The mode to set beside it; else the same one.")]
HalfOption = Annotated[Literal["all", "dev", "held_out"], typer.Option("--half", help="Which questions are compared.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the test and of the intervals.")]


def compare(
    shell: Shell,
    first: First,
    second: Second = None,
    mode: Mode = None,
    against: Against = None,
    half: HalfOption = "all",
    seed: Seed = 0,
) -> int:
    """Tell whether a difference is more than chance, and which questions made it."""
    if against is not None and mode is None:
        raise InvalidInput.field("--mode", "must be named where --against is")
    if second is None and against is None:
        raise InvalidInput.field("--against", "must be named where one run is compared with itself")
    pairs = ((mode, against or mode),) if mode is not None else ()
    runs = read_run(first), read_run(second if second is not None else first)
    comparison = compared(*runs, Pairing(pairs, half, seed))
    if shell.screen.as_json:
        shell.screen.data(asdict(comparison))
    show_tables(shell.screen, comparison_tables(comparison))
    return DONE
