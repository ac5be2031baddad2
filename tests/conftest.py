"""Fixtures that every test may use.

A process may open one engine directory, so all tests of a process share one store and keep apart
by a fresh org each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from uuid import uuid4

import pytest
from pydantic import SecretStr

import clickhouse_http
from loom_server.embed.choose import make_embedder
from loom_server.model.deadline import Deadline
from loom_server.service.open import assemble
from loom_server.service.services import Services
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.migrate import migrate
from loom_server.store.server import ServerStore


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    """The embedded store of this test process, migrated."""
    opened = EmbeddedStore(tmp_path_factory.mktemp("loom"), clients=8)
    migrate(opened)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A ClickHouse server: the one at LOOM_TEST_CLICKHOUSE_URL, else a stand-in (`clickhouse_http.py`).

    The stand-in speaks the server's wire in front of the embedded engine, in a process of its own.
    """
    if given := os.environ.get("LOOM_TEST_CLICKHOUSE_URL"):
        yield given
        return
    command = [sys.executable, clickhouse_http.__file__, str(tmp_path_factory.mktemp("server"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
        process.kill()


@pytest.fixture(scope="session")
def server(server_url: str) -> Iterator[ServerStore]:
    """A migrated store on the server."""
    opened = ServerStore(SecretStr(server_url), clients=8)
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
