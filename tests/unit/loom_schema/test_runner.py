"""Migrations against the engine: once each, refused where the past does not fit, mended after a crash.

The shared store's own migrations are there already, so these tests give the runner a schema of their
own: every `loom.` becomes a database of the test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import pytest

import loom_schema
from loom_schema import Migration, MigrationDamaged, MigrationMissing, MigrationTooNew, load, pending, run
from loom_schema.runner import applied
from loom_schema.statements import split
from loom_server.errors import MigrationEdited, SchemaUnfit
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.migrate import migrate
from loom_server.store.store import Insert, Statement

FIRST = Migration(1, "first", "CREATE TABLE IF NOT EXISTS loom.a (n UInt8) ENGINE = MergeTree ORDER BY n;")
SECOND = Migration(
    2,
    "second",
    """
    ALTER TABLE loom.a ADD COLUMN IF NOT EXISTS b String;
    ALTER TABLE loom.a ADD COLUMN IF NOT EXISTS c String;
    CREATE TABLE IF NOT EXISTS loom.d (n UInt8) ENGINE = MergeTree ORDER BY n
    """,
)


class Killed(Exception):
    """The process died here."""


@dataclass
class Schema:
    """A database of its own in the shared engine."""

    store: EmbeddedStore
    database: str
    executed: int = 0
    die_after: int | None = None

    def moved(self, sql: str) -> str:
        names = sql.replace("loom.", f"{self.database}.").replace("'loom'", f"'{self.database}'")
        return names.replace("IF NOT EXISTS loom", f"IF NOT EXISTS {self.database}")

    def execute(self, sql: str) -> None:
        if self.executed == self.die_after:
            raise Killed
        self.executed += 1
        self.store.command(Statement("test.execute", self.moved(sql)))

    def read(self, sql: str) -> list[tuple[object, ...]]:
        return self.store.query(Statement("test.read", self.moved(sql))).rows()

    def columns(self, table: str) -> list[object]:
        sql = f"SELECT name FROM system.columns WHERE database = 'loom' AND table = '{table}' ORDER BY position"
        return [row[0] for row in self.read(sql)]

    def run(self, *migrations: Migration) -> list[int]:
        return [migration.version for migration in run(self.execute, self.read, migrations)]


@pytest.fixture
def schema(store: EmbeddedStore) -> Iterator[Schema]:
    made = Schema(store, f"schema_{uuid4().hex}")
    yield made
    store.command(Statement("test.drop", f"DROP DATABASE IF EXISTS {made.database} SYNC"))


def test_each_migration_is_applied_once_and_in_order(schema: Schema) -> None:
    assert schema.run(FIRST) == [1]
    assert schema.run(FIRST, SECOND) == [2]
    assert schema.run(FIRST, SECOND) == []
    assert schema.columns("a") == ["n", "b", "c"]
    assert [(row.version, row.name, row.checksum) for row in applied(schema.read)] == [
        (1, "first", FIRST.checksum),
        (2, "second", SECOND.checksum),
    ]


def test_looking_changes_nothing(schema: Schema) -> None:
    assert pending(schema.read, (FIRST, SECOND)) == (FIRST, SECOND)
    assert applied(schema.read) == ()
    assert schema.read("SELECT count() FROM system.databases WHERE name = 'loom'") == [(0,)]


@pytest.mark.parametrize("executed", range(8))
def test_a_crash_anywhere_is_mended_by_the_next_run(schema: Schema, executed: int) -> None:
    whole = 2 + 2 + 4
    schema.die_after = executed
    with pytest.raises(Killed):
        schema.run(FIRST, SECOND)
    assert schema.executed == executed < whole
    schema.die_after = None
    schema.run(FIRST, SECOND)
    assert schema.columns("a") == ["n", "b", "c"]
    assert schema.columns("d") == ["n"]
    assert [row.version for row in applied(schema.read)] == [1, 2]
    assert schema.run(FIRST, SECOND) == []


def test_an_edited_migration_is_refused_before_anything_is_applied(schema: Schema) -> None:
    schema.run(FIRST)
    edited = replace(FIRST, text=FIRST.text + " ")
    with pytest.raises(MigrationDamaged, match="0001_first was applied with another text"):
        schema.run(edited, SECOND)
    assert schema.columns("d") == []


def test_line_endings_are_no_edit(schema: Schema) -> None:
    schema.run(FIRST, SECOND)
    assert schema.run(FIRST, replace(SECOND, text=SECOND.text.replace("\n", "\r\n"))) == []


def test_data_of_a_newer_loom_is_refused(schema: Schema) -> None:
    schema.run(FIRST, SECOND)
    with pytest.raises(MigrationTooNew, match=r"newer Loom \(schema version 2; this one knows 1\)"):
        schema.run(FIRST)


def test_a_hole_in_the_data_is_refused(schema: Schema) -> None:
    schema.run(FIRST, SECOND)
    sql = schema.moved("ALTER TABLE loom.schema_migrations DELETE WHERE version = 1")
    schema.store.command(Statement("test.hole", sql, settings={"mutations_sync": 1}))
    with pytest.raises(MigrationMissing, match=r"has the migrations \[2\], with a hole"):
        schema.run(FIRST, SECOND)


def test_two_starts_at_once_leave_one_history(schema: Schema) -> None:
    schema.run(FIRST)
    schema.execute(
        "INSERT INTO loom.schema_migrations (version, name, checksum, applied_at) "
        f"SELECT 1, 'first', '{FIRST.checksum}', now64(3, 'UTC')"
    )
    assert [row.version for row in applied(schema.read)] == [1]
    assert schema.run(FIRST, SECOND) == [2]


def test_an_unreadable_migration_is_named(schema: Schema) -> None:
    with pytest.raises(MigrationMissing, match="0001_first cannot be read: line 1: ' is never closed"):
        schema.run(replace(FIRST, text="SELECT 'a"))


@pytest.mark.parametrize(
    ("names", "refusal"),
    [
        (["0001_a.sql", "0003_c.sql"], r"numbered \[1, 3\]"),
        (["0002_b.sql"], r"numbered \[2\]"),
        (["0001_a.sql", "0001_b.sql"], r"numbered \[1, 1\]"),
        (["1_a.sql"], r"1_a\.sql is not a migration's name"),
        (["0001_A.sql"], r"0001_A\.sql is not"),
    ],
)
def test_files_must_be_numbered_without_holes(tmp_path: Path, names: list[str], refusal: str) -> None:
    for name in names:
        (tmp_path / name).write_text("SELECT 1")
    with pytest.raises(MigrationMissing, match=refusal):
        load(tmp_path)


def test_files_are_read_in_order(tmp_path: Path) -> None:
    (tmp_path / "0002_b.sql").write_text("SELECT 2")
    (tmp_path / "0001_a.sql").write_text("SELECT 1")
    (tmp_path / "notes.md").write_text("no migration")
    assert load(tmp_path) == (Migration(1, "a", "SELECT 1"), Migration(2, "b", "SELECT 2"))


def test_every_shipped_migration_may_be_run_twice(store: EmbeddedStore) -> None:
    for migration in load():
        for statement in split(migration.text):
            store.command(Statement("test.again", statement))


def test_the_schema_knows_no_service() -> None:
    package = Path(loom_schema.__file__).parent
    for module in package.rglob("*.py"):
        assert "loom_server" not in module.read_text() and "loom_client" not in module.read_text()


def test_the_service_migrates_once(store: EmbeddedStore) -> None:
    assert migrate(store) == ()


@pytest.fixture
def tampered(store: EmbeddedStore) -> Iterator[Callable[[Migration], None]]:
    """Adds a row to the service's own history, and takes it away again."""

    def add(migration: Migration) -> None:
        moment = store.query(Statement("test.now", "SELECT now64(3, 'UTC') AS now")).column("now")[0]
        columns = ("version", "name", "checksum", "applied_at")
        row = ([migration.version], [migration.name], [migration.checksum], [moment])
        store.insert(Insert("schema_migrations", columns, row))

    yield add
    sql = "ALTER TABLE loom.schema_migrations DELETE WHERE name = 'tampered'"
    store.command(Statement("test.mend", sql, settings={"mutations_sync": 1}))


def test_the_service_refuses_what_the_runner_refuses(
    store: EmbeddedStore, tampered: Callable[[Migration], None]
) -> None:
    newer = len(load()) + 1
    tampered(Migration(newer, "tampered", "SELECT 1"))
    with pytest.raises(SchemaUnfit, match="newer Loom") as refused:
        migrate(store)
    assert not refused.value.retryable
    with pytest.raises(MigrationEdited, match="another text"):
        migrate(store, [*load(), Migration(newer, "tampered", "SELECT 2")])
    assert migrate(store, [*load(), Migration(newer, "tampered", "SELECT 1")]) == ()
