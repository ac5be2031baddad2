"""The generated tables are those that the code makes today, and no part of the wire lacks its entry."""

from __future__ import annotations

from pathlib import Path

import pytest

import reference
from loom_client import wire
from loom_client.wire.contracts import not_built
from loom_client.wire.fields import FIRST_YEAR, KEY_CHARS, LABEL_CHARS, LAST_YEAR, NAME_CHARS
from loom_server.api.admission import OPS_AT_ONCE, OPS_WAITING
from loom_server.api.operations import HEALTH_SECONDS, OTHER_SECONDS
from loom_server.settings import Settings
from pages import named, rows, section, text_of

WIRE = {name: text_of(f"wire/{name}.md") for name in ("memory", "search", "namespace", "ops")}


def part_of(operation: str) -> str:
    """The section of an operation."""
    page = "search" if operation == "memory.search" else operation.partition(".")[0]
    return section(WIRE[page], operation)


@pytest.mark.parametrize("page", reference.pages(), ids=named)
def test_the_tables_are_those_of_the_code(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert reference.filled(text) == text, "run: python tests/support/reference.py"


@pytest.mark.parametrize("operation", wire.CONTRACTS)
def test_every_operation_has_its_tables(operation: str) -> None:
    text = part_of(operation)
    contract = wire.CONTRACTS[operation]
    assert f"<!-- table: answer {operation} -->" in text
    assert (f"<!-- table: request {operation} -->" in text) == bool(contract.request.model_fields)
    assert (f"<!-- table: refused {operation} -->" in text) == bool(dict(not_built(contract.request)))


def test_every_object_of_the_wire_has_its_table() -> None:
    for name in reference.shapes():
        assert sum(f"### {name}\n\n<!-- table: shape {name} -->" in page for page in WIRE.values()) == 1, name


def test_no_page_has_a_section_for_an_operation_that_is_not_there() -> None:
    heads = {line[3:] for page in WIRE.values() for line in page.splitlines() if line.startswith("## ")}
    assert heads - {"Objects"} == set(wire.CONTRACTS)


def test_a_table_is_made_anew() -> None:
    stale = "before\n<!-- table: settings -->\n| old |\n<!-- end -->\nafter"
    assert "| `LOOM_PORT` | `7777` | whole number from 1 to 65,535 | Port to listen on. |" in reference.filled(stale)
    assert "| old |" not in reference.filled(stale)


def test_every_setting_has_one_row_with_its_default() -> None:
    told = {row[0].strip("`"): row[1].strip("`") for row in rows(section(text_of("settings.md"), "All"))}
    assert told == {f"LOOM_{name.upper()}": str(info.default) for name, info in Settings.model_fields.items()}


def test_the_kinds_of_text_have_the_bounds_that_the_page_states() -> None:
    told = {row[0]: row[1] for row in rows(section(text_of("wire/index.md"), "Kinds of text"))}
    assert told["name"].startswith(f"1 to {NAME_CHARS} letters")
    assert told["key"].startswith(f"1 to {KEY_CHARS} characters")
    assert told["label"].startswith(f"1 to {LABEL_CHARS} characters")
    assert told["time"].split(", ")[2].startswith(f"in the years {FIRST_YEAR} to {LAST_YEAR}")


def test_the_times_and_threads_are_those_that_the_page_states() -> None:
    text = " ".join(section(text_of("wire/index.md"), "Rules").split())
    assert f"a health check has {HEALTH_SECONDS:g} s, every other operation {OTHER_SECONDS:g} s" in text
    assert f"{OPS_AT_ONCE} at once and {OPS_WAITING} that wait" in text
