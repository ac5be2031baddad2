"""Fixtures that every test may use.

A process may open one engine directory, so all tests of a process share one store and keep apart
by a fresh org each.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from loom_server.store.embedded import EmbeddedStore
from loom_server.store.migrate import migrate


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    """The embedded store of this test process, migrated."""
    opened = EmbeddedStore(tmp_path_factory.mktemp("loom"), clients=8)
    migrate(opened)
    yield opened
    opened.close()


@pytest.fixture
def org() -> str:
    """An org that no other test has."""
    return f"org-{uuid4().hex[:12]}"
