"""Numbered migrations, applied in order, once each.

    migrations/NNNN_name.sql  ->  a row (version, name, checksum, applied_at) in loom.schema_migrations

The engine has no transactions, so a migration may stop half way. Every statement is therefore
written to be repeatable (IF NOT EXISTS and the like), the row is written after the last one, and
the next run does the whole migration again.

Nothing is applied where the past does not fit: an applied migration whose text has changed, a hole
in the numbers, or a version that these files do not know (the data was written by a newer Loom).

The runner knows no store: it takes one callable that executes and one that reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from loom_schema.statements import split

MIGRATIONS = Path(__file__).parent / "migrations"
Execute = Callable[[str], None]
"""Runs one statement that returns nothing."""
Read = Callable[[str], Iterable[Sequence[object]]]
"""Runs one query and gives its rows."""

_FILE = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql\Z")
_DATABASE = "CREATE DATABASE IF NOT EXISTS loom"
_TABLE = """
CREATE TABLE IF NOT EXISTS loom.schema_migrations
(
    version UInt32,
    name String,
    checksum FixedString(64),
    applied_at DateTime64(3, 'UTC')
)
ENGINE = MergeTree
ORDER BY version
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
"""
_PRESENT = "SELECT count() FROM system.tables WHERE database = 'loom' AND name = 'schema_migrations'"
# A migration applied twice (two servers at once) has two equal rows; two unequal ones are an edit.
_APPLIED = "SELECT DISTINCT version, name, checksum FROM loom.schema_migrations ORDER BY version"


class MigrationError(Exception):
    """The migrations and the data do not fit; the message says how, and what to do."""


class MigrationDamaged(MigrationError):
    """An applied migration's text has changed."""


class MigrationTooNew(MigrationError):
    """The data was written by a newer Loom."""


class MigrationMissing(MigrationError):
    """The files or the applied versions have a hole, or a file cannot be used."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file: its number, its name without number and ending, and its text."""

    version: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the text, in hexadecimal; line endings do not count."""
        return sha256(self.text.replace("\r\n", "\n").encode()).hexdigest()

    @property
    def label(self) -> str:
        return f"{self.version:04}_{self.name}"


@dataclass(frozen=True, slots=True)
class Applied:
    """One row of `schema_migrations`."""

    version: int
    name: str
    checksum: str


def load(directory: Path = MIGRATIONS) -> tuple[Migration, ...]:
    """The migrations of a directory, in order. Raises MigrationMissing for a hole or a stray file."""
    found: list[Migration] = []
    for path in sorted(directory.glob("*.sql")):
        match = _FILE.match(path.name)
        if match is None:
            raise MigrationMissing(f"{path.name} is not a migration's name; call it NNNN_lower_case.sql.")
        found.append(Migration(int(match[1]), match[2], path.read_text(encoding="utf-8")))
    versions = [migration.version for migration in found]
    if versions != list(range(1, len(found) + 1)):
        raise MigrationMissing(f"The migration files are numbered {versions}; they must run 1, 2, 3 without holes.")
    return tuple(found)


def applied(read: Read) -> tuple[Applied, ...]:
    """What the data says was applied, in order; empty for new data. Changes nothing."""
    if not _count(read(_PRESENT)):
        return ()
    return tuple(Applied(int(str(version)), _text(name), _text(checksum)) for version, name, checksum in read(_APPLIED))


def pending(read: Read, migrations: Sequence[Migration]) -> tuple[Migration, ...]:
    """What is left to apply. Raises a MigrationError where the past does not fit. Changes nothing."""
    known = {migration.version: migration for migration in migrations}
    done = applied(read)
    for row in done:
        migration = known.get(row.version)
        if migration is None:
            raise MigrationTooNew(
                f"This data was written by a newer Loom (schema version {done[-1].version}; "
                f"this one knows {len(migrations)}). Start it with that version, or restore a backup."
            )
        if migration.checksum != row.checksum:
            raise MigrationDamaged(
                f"Migration {migration.label} was applied with another text. Put the old text back, "
                "and write the change as a new migration."
            )
    versions = sorted({row.version for row in done})
    if versions != list(range(1, len(versions) + 1)):
        raise MigrationMissing(f"The data has the migrations {versions}, with a hole; restore a backup.")
    return tuple(migration for migration in migrations if migration.version > len(versions))


def run(execute: Execute, read: Read, migrations: Sequence[Migration] | None = None) -> tuple[Migration, ...]:
    """Apply what is pending and give it back, in order. Raises what `pending` raises, before any change."""
    todo = pending(read, load() if migrations is None else migrations)
    execute(_DATABASE)
    execute(_TABLE)
    for migration in todo:
        for statement in _statements(migration):
            execute(statement)
        execute(
            "INSERT INTO loom.schema_migrations (version, name, checksum, applied_at) "
            f"SELECT {migration.version}, '{migration.name}', '{migration.checksum}', now64(3, 'UTC')"
        )
    return todo


def _statements(migration: Migration) -> tuple[str, ...]:
    try:
        return split(migration.text)
    except ValueError as error:
        raise MigrationMissing(f"Migration {migration.label} cannot be read: {error}.") from error


def _count(rows: Iterable[Sequence[object]]) -> int:
    return int(str(next(iter(rows))[0]))


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
