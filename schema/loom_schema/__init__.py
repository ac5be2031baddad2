"""The tables of Loom: numbered migrations as SQL, and the runner that applies them."""

from loom_schema.runner import (
    Applied,
    Migration,
    MigrationDamaged,
    MigrationError,
    MigrationMissing,
    MigrationTooNew,
    Read,
    load,
    pending,
    run,
)

__all__ = [
    "Applied",
    "Migration",
    "MigrationDamaged",
    "MigrationError",
    "MigrationMissing",
    "MigrationTooNew",
    "Read",
    "load",
    "pending",
    "run",
]
