"""Rows named one by one: no statement without names, and none over a table that is not named."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest

import loom_server
from loom_server.model.memory import Key
from loom_server.store.named import KEYS_MARKER, MOST_BYTES, ROWS_MARKER, NamedTemplate, Row, parts_of

ROWS = [Row("b", "n", 2), Row("a", "m", 1)]
KEYS = [Key("o", "n", "a", "u", "s", "k"), Key("o", "n", "a", "v", "s", "k")]


def templates() -> Iterator[NamedTemplate]:
    """Every one that a module of the service holds by name, alone or in a tuple."""
    for module in pkgutil.walk_packages(loom_server.__path__, "loom_server."):
        for value in vars(importlib.import_module(module.name)).values():
            held = value if isinstance(value, tuple) else [value]
            yield from (one for one in held if isinstance(one, NamedTemplate))


def test_rows_are_named_by_org_namespace_and_id() -> None:
    statement = NamedTemplate("t", "SELECT 1 FROM loom.postings WHERE /*rows*/", {"max_threads": 2}).rows(
        ROWS, {"x": 1}
    )
    assert statement.parameters == {"orgs": ["a", "b"], "namespaces": ["m", "n"], "row_ids": [1, 2], "x": 1}
    assert all(part in statement.sql for part in ("org IN", "namespace IN", "id IN"))
    assert statement.settings == {"max_threads": 2}


def test_keys_are_named_by_all_their_parts() -> None:
    statement = NamedTemplate("t", "SELECT 1 FROM loom.memory WHERE /*keys*/").keys(KEYS)
    assert statement.parameters == {
        "orgs": ["o"],
        "namespaces": ["n"],
        "agents": ["a"],
        "users": ["u", "v"],
        "sessions": ["s"],
        "memory_keys": ["k"],
    }


def test_keys_and_rows_may_stand_in_one_statement() -> None:
    sql = "SELECT 1 FROM loom.memory WHERE /*keys*/ AND id IN (SELECT id FROM loom.postings WHERE /*rows*/)"
    statement = NamedTemplate("t", sql).both(KEYS, [Row("o", "n", 1)])
    assert {"orgs", "namespaces", "row_ids", "memory_keys"} <= statement.parameters.keys()
    assert ROWS_MARKER not in statement.sql
    assert KEYS_MARKER not in statement.sql


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM loom.memory",
        "SELECT 1 FROM loom.memory WHERE id IN (SELECT id FROM loom.postings WHERE /*rows*/)",
    ],
)
def test_a_tenant_s_table_without_names_is_refused(sql: str) -> None:
    with pytest.raises(ValueError, match="names the rows"):
        NamedTemplate("t", sql)


def test_binding_without_names_is_refused() -> None:
    rows = NamedTemplate("t", "SELECT 1 FROM loom.memory WHERE /*rows*/")
    both = NamedTemplate("t", "SELECT 1 FROM loom.memory WHERE /*rows*/ AND /*keys*/")
    for bind in (lambda: rows.rows([]), lambda: rows.keys(KEYS), lambda: both.rows(ROWS), lambda: both.both([], ROWS)):
        with pytest.raises(ValueError, match="without the names"):
            bind()


@pytest.mark.parametrize("template", list(templates()), ids=lambda template: template.name)
def test_names_go_to_metrics_as_they_are(template: NamedTemplate) -> None:
    assert all(part.isidentifier() and part == part.lower() for part in template.name.split("."))


def test_the_walk_finds_the_service_s_statements() -> None:
    assert {"write.newest", "versions.supersede", "versions.drop_postings"} <= {one.name for one in templates()}


def itself(key: Key) -> Key:
    return key


def test_keys_go_in_parts_that_a_server_reads() -> None:
    # 4 x 3 for the quotes and commas, and two bytes a letter.
    keys = [Key("o", "n", "", "", "", f"{number:03}" + "é" * 200) for number in range(400)]
    parts = list(parts_of(keys, itself))
    assert [key for part in parts for key in part] == keys
    assert [len(part) for part in parts] == [MOST_BYTES // 415, MOST_BYTES // 415, 400 - 2 * (MOST_BYTES // 415)]


def test_a_key_that_is_too_long_for_any_part_has_one_of_its_own() -> None:
    keys = [Key("o", "n", "", "", "", letter * MOST_BYTES) for letter in "ab"]
    assert [len(part) for part in parts_of(keys, itself)] == [1, 1]
    assert list(parts_of((), itself)) == []
