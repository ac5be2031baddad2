"""The page on storage names the tables, the order of a commit and the settings that the store has."""

from __future__ import annotations

import re
from importlib import import_module
from itertools import pairwise

import pytest

from loom_client import wire
from loom_schema import load
from loom_schema.statements import split
from loom_server.model.deadline import Deadline
from loom_server.service.services import Services
from loom_server.settings import Settings
from loom_server.store.embedded import ENGINE_DIRECTORY, EmbeddedStore
from loom_server.store.lock import LOCK_FILE
from loom_server.store.store import Statement
from pages import numbers, rows, section, text_of

PAGE = text_of("storage.md")
CONSTANTS = {row[0].strip("`"): row[1] for row in rows(section(PAGE, "Constants"))}
TABLES = "SELECT name, engine_full, sorting_key FROM system.tables WHERE database = 'loom' ORDER BY name"
SMALL = {"0", "1", "2", "3", "4", "5"}
"""Steps of the commit among them."""


def tables(store: EmbeddedStore) -> dict[str, tuple[str, str]]:
    """The engine and the order of each table, by its name."""
    return {str(name): (str(engine), str(order)) for name, engine, order in store.query(Statement("t", TABLES)).rows()}


def test_the_tables_and_their_orders_are_those_of_the_engine(store: EmbeddedStore) -> None:
    told = {row[0].strip("`"): row[2] for row in rows(section(PAGE, "Tables"))}
    assert told == {name: order for name, (_, order) in tables(store).items()}


def test_every_table_flushes_what_the_page_says(store: EmbeddedStore) -> None:
    named = re.findall(r"`(\w*fsync\w*)`", section(PAGE, "On disk"))
    assert len(named) == 3
    for name, (engine, _) in tables(store).items():
        assert all(f"{setting} = 1" in engine for setting in named), name


def test_the_engine_drops_replaced_parts_at_once_unless_merges_are_flushed(store: EmbeddedStore) -> None:
    sql = "SELECT value FROM system.merge_tree_settings WHERE name = 'old_parts_lifetime'"
    assert store.query(Statement("t", sql)).column("value")[0] == "0"


def test_a_commit_goes_in_the_order_of_the_page(services: Services, store: EmbeddedStore, org: str) -> None:
    def write(value: str) -> None:
        services.set(wire.MemorySetRequest(org=org, memory_key="k", value=value), Deadline(30.0))

    def paid() -> None:
        services.writer.between_groups(lambda: None, Deadline(30.0))

    write("first")
    paid()
    seen: list[str] = []
    stop = store.observe(lambda name, seconds, count, outcome: seen.append(name))
    write("second")
    paid()
    stop()
    steps = re.findall(r"^\d\. (.+?)(?=^\d\.|\n\n)", section(PAGE, "Commit"), re.DOTALL | re.MULTILINE)
    assert len(steps) == 5
    tables = [re.findall(r"`(\w+)`", step) for step in steps]
    indexes, commit, roll_ups = ({f"insert.{table}" for table in tables[step]} for step in (0, 1, 4))
    assert tables[2:4] == [["superseded"], ["live", "memory_embeddings", "postings"]]
    order = [indexes, commit, {"versions.supersede"}, {"versions.lower_vectors", "versions.lower_postings"}, roll_ups]
    places = [[seen.index(name) for name in names] for names in order]
    assert all(max(before) < min(after) for before, after in pairwise(places))


def test_the_files_are_where_the_page_says() -> None:
    data_dir = Settings.model_fields["data_dir"].default
    assert f"    {data_dir}/{LOCK_FILE} " in PAGE
    assert f"    {data_dir}/{ENGINE_DIRECTORY}/ " in PAGE


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_has_the_value_that_the_page_states(name: str) -> None:
    module, _, constant = name.rpartition(".")
    assert int(CONSTANTS[name].replace(",", "")) == getattr(import_module(module), constant)


def test_every_number_of_the_page_is_a_constant() -> None:
    known = {value.replace(",", "") for value in CONSTANTS.values()}
    assert numbers(PAGE) <= known | SMALL


REPEATABLE = r"CREATE TABLE IF NOT EXISTS|ALTER TABLE \S+ (MODIFY SETTING|ADD COLUMN IF NOT EXISTS|MATERIALIZE COLUMN)"


def test_every_migration_may_be_repeated() -> None:
    """As the page says; the schema's own tests run each twice."""
    for migration in load():
        for statement in split(migration.text):
            assert re.match(REPEATABLE, statement), migration.label
