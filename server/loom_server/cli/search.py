"""`loom search`: the hits in a table, and the verdict in a line. Exit code 3 where it abstained."""

from __future__ import annotations

from typing import Annotated

import typer

from loom_server.cli import draw
from loom_server.cli.command import ABSTAINED, DONE, Shell
from loom_server.cli.door import open_door
from loom_server.cli.questions import Choices, Query, Question

Explain = Annotated[bool, typer.Option("--explain", "-e", help="Show which legs found each row, at which rank.")]


def search(shell: Shell, query: Query, choices: Choices, explain: Explain = False) -> int:
    """Search memories; the answer is rows with a verdict."""
    request = Question(query, choices, explain).request(shell.identity)
    with open_door(shell.settings) as door:
        response = door.search(request)
    if shell.screen.as_json:
        shell.screen.data(response.plain())
    shell.screen.show(*draw.answer(response))
    if response.next_page is not None and not shell.screen.as_json:
        shell.screen.say(f"More rows: the same command with --page {response.next_page}", "dim")
    return ABSTAINED if response.abstain else DONE
