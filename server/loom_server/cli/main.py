"""The shell: `loom COMMAND`. Each command stands in a file of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from loom_server import __version__
from loom_server.cli.command import command, identity_command
from loom_server.cli.config import config
from loom_server.cli.demo.command import demo
from loom_server.cli.doctor import doctor
from loom_server.cli.evaluate.group import evaluate
from loom_server.cli.explain import explain
from loom_server.cli.ingest import ingest
from loom_server.cli.migrate import migrate
from loom_server.cli.reembed import reembed
from loom_server.cli.search import search
from loom_server.cli.serve import serve
from loom_server.cli.write import set_memory
from loom_server.observe import logs

app = typer.Typer(
    name="loom",
    help="Memories for agents and teams: store them, search them, see why. Exit code 3 means: abstained.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"loom {__version__}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", help="Print the version.", callback=_tell_version, is_eager=True)]


@app.callback()
def log_to_stderr(version: Version = False) -> None:
    """Logs stand beside the data; each command sets them to what its settings say."""
    logs.configure(level="warning")


app.command("serve")(command(serve, level="info"))
app.command("demo")(command(demo))
app.command("set")(identity_command(set_memory))
app.command("search")(identity_command(search))
app.command("explain")(identity_command(explain))
app.command("ingest")(identity_command(ingest))
app.command("migrate")(command(migrate))
app.command("doctor")(command(doctor))
app.command("reembed")(command(reembed))
app.add_typer(config, name="config")
app.add_typer(evaluate, name="eval")

if __name__ == "__main__":
    app()
