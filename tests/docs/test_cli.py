"""The page on the shell names every command and every option, and the demo's page its questions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from loom_server.cli.demo.questions import QUESTIONS
from loom_server.cli.main import app
from loom_server.ingest.files.walk import KINDS
from pages import every_command

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "cli.md").read_text(encoding="utf-8")
ROOT = typer.main.get_command(app)
COMMANDS = every_command(app)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_a_section(name: str) -> None:
    assert re.search(rf"^## loom {name}$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_is_told(name: str) -> None:
    options = {option for one in COMMANDS[name].params for option in one.opts if option.startswith("--")}
    assert {option for option in options if f"`{option}`" not in PAGE and f"{option} " not in PAGE} == set()


def test_no_option_is_told_that_is_not_there() -> None:
    known = {option for command in (ROOT, *COMMANDS.values()) for one in command.params for option in one.opts}
    assert set(re.findall(r"--[a-z][a-z-]+", PAGE)) <= known


def test_every_kind_of_file_is_told() -> None:
    assert {kind for kind in KINDS if f"`{kind}`" not in PAGE} == set()


def test_the_demos_page_has_its_questions() -> None:
    page = (DOCS / "demo.md").read_text(encoding="utf-8")
    assert [shown.query for shown in QUESTIONS if f"| {shown.query} |" not in page] == []
