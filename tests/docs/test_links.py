"""What any page shows a reader exists: links and their headings, JSON, commands and their options, settings."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from loom_server.cli.main import app
from loom_server.settings import Settings
from loom_server.sources import CLIENTS_OWN, variable
from pages import anchors, blocks, every_command, every_page, links, named

PAGES = every_page()
SETTINGS = {variable(name) for name in Settings.model_fields} | set(CLIENTS_OWN)
COMMANDS = every_command(app)
_COMMAND = re.compile(r"(?:^ *|`|\| |&& |\$ )(?:\.venv/bin/)?loom ([a-z]+)([^`\n|&]*)", re.MULTILINE)
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)")

OF_TESTS = {"LOOM_TEST_CLICKHOUSE_URL"}
"""Read by the tests' own fixtures (`tests/conftest.py`)."""

each_page = pytest.mark.parametrize("page", PAGES, ids=named)


def read(page: Path) -> str:
    """A page's text."""
    return page.read_text(encoding="utf-8")


@each_page
def test_every_link_leads_to_a_page_and_a_heading(page: Path) -> None:
    lost: list[str] = []
    for link in links(read(page)):
        path, _, heading = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        there = target.exists() and (not heading or heading in anchors(read(target)))
        lost += [] if there else [link]
    assert lost == []


@each_page
def test_every_json_block_is_json(page: Path) -> None:
    for block in blocks(read(page), "json"):
        json.loads(block)


@each_page
def test_every_command_shown_exists_with_its_options(page: Path) -> None:
    for first, rest in _COMMAND.findall(read(page)):
        name = first if first in COMMANDS else " ".join([first, *rest.split()[:1]])
        assert name in COMMANDS, f"loom {name}"
        known = {option for parameter in COMMANDS[name].params for option in parameter.opts}
        assert set(_OPTION.findall(rest)) <= known | {"--help"}, f"loom {name}{rest}"


@each_page
def test_every_setting_named_exists(page: Path) -> None:
    whole = set(re.findall(r"LOOM_[A-Z0-9_]+\*?", read(page))) - {"LOOM_*", *OF_TESTS}
    for name in whole:
        start = name.removesuffix("*")
        assert name in SETTINGS or (start.endswith("_") and any(one.startswith(start) for one in SETTINGS)), name


def test_the_commands_are_looked_for_where_they_stand() -> None:
    found = _COMMAND.findall("`loom doctor --mend`\nloom serve --port 1\n    loom demo\nthe loom is")
    assert [name for name, _ in found] == ["doctor", "serve", "demo"]
