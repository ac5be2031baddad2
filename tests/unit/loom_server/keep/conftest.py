"""Tests here damage the store that all tests of the process share; each takes its org away again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loom_server.store.embedded import EmbeddedStore
from loom_server.store.statement import TENANT_TABLES
from loom_server.store.store import Statement


@pytest.fixture(autouse=True)
def tidy(store: EmbeddedStore, org: str) -> Iterator[None]:
    """Remove the rows of the test's org, and of those whose names begin with it."""
    yield
    for table in TENANT_TABLES:
        store.command(
            Statement("test.tidy", f"DELETE FROM loom.{table} WHERE startsWith(org, {{org:String}})", {"org": org})
        )
