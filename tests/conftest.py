"""Fixtures that every test may use.

A process may open one engine directory, so all tests of a process share one store and keep apart
by a fresh org each.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from loom_server.embed.choose import make_embedder
from loom_server.model.deadline import Deadline
from loom_server.service.open import assemble
from loom_server.service.services import Services
from loom_server.settings import Settings
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


@pytest.fixture(scope="session")
def services(store: EmbeddedStore) -> Iterator[Services]:
    """All operations over the process's store, with the default embedder."""
    settings = Settings()
    opened = assemble(store, make_embedder(settings), settings)
    yield opened
    opened.writer.close()
    opened.searcher.executor.shutdown()


@pytest.fixture(autouse=True)
def settled(request: pytest.FixtureRequest) -> Iterator[None]:
    """After a test that used the services nothing is owed any more: a later one may count the store's statements."""
    used = request.getfixturevalue("services") if "services" in request.fixturenames else None
    yield
    if used is not None:
        used.writer.between_groups(lambda: None, Deadline(30))
