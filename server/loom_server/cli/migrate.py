"""`loom migrate`: bring the store's tables up to date, and tell the versions."""

from __future__ import annotations

import loom_schema
from loom_server.cli.command import DONE, Shell
from loom_server.store.choose import open_store
from loom_server.store.migrate import migrate as apply_migrations


def migrate(shell: Shell) -> int:
    """Apply the migrations that are pending; `loom serve` does the same at its start."""
    store = open_store(shell.settings)
    try:
        applied = apply_migrations(store)
    finally:
        store.close()
    version = max(migration.version for migration in loom_schema.load())
    if shell.screen.as_json:
        shell.screen.data({"applied": list(applied), "version": version})
    shell.screen.show(*(f"applied {label}" for label in applied), f"schema at version {version}")
    return DONE
