"""`loom config show`: each setting, its value and where it comes from. A secret is told as set or not set."""

from __future__ import annotations

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from loom_server.cli.command import DONE, Shell, command
from loom_server.settings import Settings
from loom_server.sources import Read, variable

config = typer.Typer(
    help="What the service is set to. An option stands before the environment, then .env, the TOML file, the default.",
    no_args_is_help=True,
)


def show(shell: Shell) -> int:
    """Show each setting with its value and its origin, and the LOOM_ variables that are no setting."""
    if shell.screen.as_json:
        shell.screen.data(_plain(shell.read))
    shell.screen.show(_table(shell.read), *(Text(one.sentence(), style="yellow") for one in shell.read.unknown))
    return DONE


def _plain(read: Read) -> dict[str, object]:
    settings = [
        {"name": variable(field), "value": read.shown(field), "origin": read.origins[field]}
        for field in Settings.model_fields
    ]
    unknown = [{"name": one.name, "origin": one.origin, "nearest": one.nearest} for one in read.unknown]
    return {"settings": settings, "unknown": unknown}


def _table(read: Read) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("setting", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("from", no_wrap=True)
    for field in Settings.model_fields:
        origin = read.origins[field]
        table.add_row(variable(field), str(read.shown(field)), Text(origin, style="dim" if origin == "default" else ""))
    return table


config.command("show")(command(show))
