"""Brings a store's tables up to date with the migrations of `loom_schema`."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

import loom_schema
from loom_schema import Migration, MigrationDamaged
from loom_server.errors import MigrationEdited, SchemaUnfit
from loom_server.store.store import Statement, Store


def migrate(store: Store, migrations: Sequence[Migration] | None = None) -> tuple[str, ...]:
    """Apply what is pending; answers with the names of what was applied.

    Raises `MigrationEdited` for an applied migration whose text has changed, and
    `SchemaUnfit` for data of a newer Loom or with a hole.
    """

    def execute(sql: str) -> None:
        store.command(Statement("migrate", sql))

    with _fitting():
        return _labels(loom_schema.run(execute, _reader(store), migrations))


def pending(store: Store, migrations: Sequence[Migration] | None = None) -> tuple[str, ...]:
    """The names of what `migrate` would apply. Raises what it raises, and changes nothing."""
    with _fitting():
        return _labels(loom_schema.pending(_reader(store), loom_schema.load() if migrations is None else migrations))


def _reader(store: Store) -> loom_schema.Read:
    return lambda sql: store.query(Statement("migrate.read", sql)).rows()


def _labels(migrations: Sequence[Migration]) -> tuple[str, ...]:
    return tuple(migration.label for migration in migrations)


@contextmanager
def _fitting() -> Generator[None]:
    """Turn the runner's errors into ours."""
    try:
        yield
    except MigrationDamaged as error:
        raise MigrationEdited(str(error)) from error
    except loom_schema.MigrationError as error:
        raise SchemaUnfit(str(error)) from error
