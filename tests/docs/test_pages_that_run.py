"""The tutorial and the client's page run: their commands and scripts, in order, against a service that is served.

    ```console   `$ command` and its output; a command without output is run and must end well
    ```python    a script; the ```text block that follows is what it prints

`…` in a shown output stands for any text within a line, and alone in a line for any lines; empty lines and spaces
at the end of a line do not count. Port 7777 in a page is the port that the test serves on.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loom_client import wire
from pages import blocks, text_of
from served import ENVIRONMENT, serving

PAGES = ("client.md", "tutorial.md")
DEFAULT = "http://127.0.0.1:7777"
_BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)


def steps(page: str) -> Iterator[tuple[list[str], str]]:
    """Each command of a page and the output that is shown for it."""
    for kind, body, printed in _BLOCK.findall(text_of(page)):
        if kind == "python":
            yield [sys.executable, "-c", body], printed
            continue
        for command in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            line, _, output = command.partition("\n")
            yield ["sh", "-c", line], output


def matches(shown: str, real: str) -> bool:
    """Whether an output is the one that is shown."""
    pattern = "".join("(?:.*\n)*" if line == "…" else f"{line_pattern(line)}\n" for line in lines(shown))
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines(real))) is not None


def lines(text: str) -> list[str]:
    """Lines that hold something, without spaces at their end."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def line_pattern(line: str) -> str:
    """A line of a shown output as a pattern."""
    return re.escape(line).replace("…", ".*")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_says(page: str, tmp_path: Path) -> None:
    directory = tmp_path / "data"
    with serving(directory) as address:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        given = {**ENVIRONMENT, "LOOM_URL": address, "LOOM_DATA_DIR": str(directory), "PATH": path}
        for command, shown in steps(page):
            here = [part.replace(DEFAULT, address) for part in command]
            ran = subprocess.run(here, env=given, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert ran.returncode == 0, ran.stderr
            assert not shown or matches(shown, ran.stdout), f"{command[-1]}\nshown:\n{shown}\nreal:\n{ran.stdout}"


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_page_is_run(page: str) -> None:
    text = text_of(page)
    commands = sum(body.count("\n$ ") + body.startswith("$ ") for body in blocks(text, "console"))
    assert len(list(steps(page))) == len(blocks(text, "python")) + commands
    shown = [output for command, output in steps(page) if command[0] == sys.executable]
    assert len([output for output in shown if output]) == len(blocks(text, "text"))


def test_the_tutorial_meets_every_operation_on_memories_and_the_shell() -> None:
    text = text_of("tutorial.md")
    met = set(re.findall(r"loom\.memory\.(\w+)\(", text))
    names = {name.partition(".")[2] for name in wire.CONTRACTS if name.startswith("memory.")}
    assert names - {"list", "set_many"} <= met
    assert {"serve", "set", "search", "explain"} <= set(re.findall(r"\bloom (\w+)", text))


@pytest.mark.parametrize(
    ("shown", "real", "same"),
    [
        ("a…c\n", "abbbc\n", True),
        ("a…c", "ab\nc", False),
        ("a.c", "abc", False),
        ("a", "a\nb", False),
        ("a\n…\nd", "a\nb\n\nc\nd  ", True),
        ("a\n…\nd", "a\nb", False),
        ("", "a", False),
    ],
)
def test_what_is_shown_must_be_what_came_out(shown: str, real: str, same: bool) -> None:
    assert matches(shown, real) is same
