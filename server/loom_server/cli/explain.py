"""`loom explain`: one search drawn stage by stage: the plan, the time, the scores, the verdict."""

from __future__ import annotations

from loom_server.cli import draw
from loom_server.cli.command import ABSTAINED, DONE, Shell
from loom_server.cli.door import open_door
from loom_server.cli.questions import Choices, Query, Question


def explain(shell: Shell, query: Query, choices: Choices) -> int:
    """Search, and show how each row came to its place."""
    request = Question(query, choices, explain=True).request(shell.identity)
    with open_door(shell.settings) as door:
        response = door.search(request)
    if shell.screen.as_json:
        shell.screen.data(response.plain())
    shell.screen.show(*draw.explanation(response))
    return ABSTAINED if response.abstain else DONE
