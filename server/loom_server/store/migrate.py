"""Brings a store's tables up to date with the migrations of `loom_schema`."""

from __future__ import annotations

from collections.abc import Sequence

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

    def read(sql: str) -> list[tuple[object, ...]]:
        return store.query(Statement("migrate.read", sql)).rows()

    try:
        done = loom_schema.run(execute, read, migrations)
    except MigrationDamaged as error:
        raise MigrationEdited(str(error)) from error
    except loom_schema.MigrationError as error:
        raise SchemaUnfit(str(error)) from error
    return tuple(migration.label for migration in done)
