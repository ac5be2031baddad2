"""`loom reembed`: vectors for every row that has none of the embedder that serves now, with a bar.

The service does the work, in this process or in the server that owns the store; the command starts it, draws how far it
is, and waits for its end. Ctrl-C cancels what it has started. What is done stays, and the next run goes on from there.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from time import sleep
from typing import Annotated

import typer

from loom_client import wire
from loom_server.cli.command import DONE, FAILED, INTERRUPTED, Shell
from loom_server.cli.door import Door, open_door
from loom_server.cli.screen import Screen, counted

POLL_S = 0.2

OrgOnly = Annotated[str | None, typer.Option("--org", help="Only this organisation; else all of them.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Count rows and characters, and change nothing.")]


def reembed(shell: Shell, org: OrgOnly = None, dry_run: DryRun = False) -> int:
    """Move vectors to the embedder that is configured now; a run that was cut short goes on where it was."""
    with open_door(shell.settings) as door:
        if dry_run:
            answer = door.reembed(wire.OpsReembedRequest(action="plan", org=org))
        else:
            answer = run(door, org, shell.screen)
    if shell.screen.as_json:
        shell.screen.data(answer.plain())
    shell.screen.show(told(answer))
    if answer.error is not None:
        shell.screen.say(f"Error: {answer.error}", "red")
    return {"failed": FAILED, "cancelled": INTERRUPTED}.get(answer.state, DONE)


def run(door: Door, org: str | None, screen: Screen) -> wire.OpsReembedResponse:
    """Start, or find it started, and watch it to its end."""
    found = door.reembed(wire.OpsReembedRequest())
    own = found.state != "running" or found.org != org
    answer = door.reembed(wire.OpsReembedRequest(action="start", org=org)) if own else found
    with screen.progress(f"Embedding with {answer.model}") as advance, _cancelling(door, own):
        while answer.state == "running":
            sleep(POLL_S)
            answer = door.reembed(wire.OpsReembedRequest())
            share = answer.rows_done / answer.rows_total if answer.rows_total else 0.0
            advance(share, f"{answer.rows_done:,} of {_many(answer.rows_total, 'row')}")
    return answer


@contextmanager
def _cancelling(door: Door, own: bool) -> Generator[None]:
    """An interrupt of the block cancels the run, unless somebody else has started it."""
    try:
        yield
    except KeyboardInterrupt:
        if own:
            door.reembed(wire.OpsReembedRequest(action="cancel"))
        raise


def told(answer: wire.OpsReembedResponse) -> str:
    """What it came to, in a line."""
    orgs = counted(answer.orgs, "org")
    if answer.state == "planned":
        rows, characters = _many(answer.rows_total, "row"), _many(answer.characters, "character")
        return f"{rows} of {orgs}, {characters}, would be embedded with {answer.model}."
    rows = f"{_many(answer.rows_done, 'row')} embedded with {answer.model}"
    if answer.state == "done":
        return (
            f"{rows}, {orgs} finished." if answer.orgs else f"Nothing to do: every row has a vector of {answer.model}."
        )
    return f"{rows}, {answer.rows_left:,} left; {answer.orgs_done} of {orgs} finished."


def _many(number: int, noun: str) -> str:
    """`1 row`, `12,000 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
