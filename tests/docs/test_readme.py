"""What the README and CONTRIBUTING tell a reader to type exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loom_server.api.operations import OPERATIONS
from loom_server.cli.main import app
from loom_server.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/architecture.md"]


def text(name: str) -> str:
    """A page of the project."""
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_readme_shows_the_two_commands_first() -> None:
    commands = re.findall(r"^    (\S.*)$|^(make .*)$", text("README.md"), re.MULTILINE)
    first = [(indented or fenced).split("#")[0].strip() for indented, fenced in commands[:2]]
    assert first == ["make demo", "make test"]


@pytest.mark.parametrize("page", PAGES)
def test_every_make_target_named_exists(page: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", text("Makefile"), re.MULTILINE))
    assert set(re.findall(r"(?:`|^    |^)make ([a-z]+)", text(page), re.MULTILINE)) <= targets


def test_the_settings_of_the_readme_have_their_true_defaults() -> None:
    rows = re.findall(r"^\| `(LOOM_\w+)` \| `([^`]+)` \|", text("README.md"), re.MULTILINE)
    assert len(rows) > 3
    fields = Settings.model_fields
    assert {name: str(fields[name.removeprefix("LOOM_").lower()].default) for name, _ in rows} == {
        name: str(type(fields[name.removeprefix("LOOM_").lower()].default)(default)) for name, default in rows
    }


def test_the_readme_lists_every_command_of_the_shell() -> None:
    told = re.findall(r"^\| `loom (\w+)(?: \w+)?` \|", text("README.md"), re.MULTILINE)
    assert told == [one.name for one in (*app.registered_commands, *app.registered_groups)]


def test_the_readme_lists_every_operation() -> None:
    listed = text("README.md").partition("Operations: ")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([a-z_.]+)`", listed)) == set(OPERATIONS)
