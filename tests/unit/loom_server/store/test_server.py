"""What a server store makes of a wire that fails; the statements themselves are in the stores' conformance."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from urllib.request import Request, urlopen

import pytest
from clickhouse_connect.driver.exceptions import DatabaseError
from pydantic import SecretStr

import clickhouse_http
from loom_server.errors import DeadlineExceeded, StoreUnavailable
from loom_server.model.deadline import Deadline
from loom_server.store.server import READS, ServerStore
from loom_server.store.store import Insert, Statement

ONE = Statement("test.one", "SELECT 1 AS one")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A stand-in server's address."""
    command = [sys.executable, clickhouse_http.__file__, str(tmp_path_factory.mktemp("server"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
        process.kill()


@pytest.fixture(scope="module")
def server(url: str) -> Iterator[ServerStore]:
    """A store with one empty table."""
    opened = ServerStore(SecretStr(url), clients=2)
    opened.command(Statement("test.database", "CREATE DATABASE IF NOT EXISTS loom"))
    opened.command(Statement("test.table", "CREATE TABLE loom.wire (n UInt64) ENGINE = MergeTree ORDER BY n"))
    yield opened
    opened.close()


def order(url: str, kind: str, number: int) -> None:
    """Let the next statements fail."""
    with urlopen(Request(f"{url}/orders", json.dumps({kind: number}).encode())) as answer:
        assert answer.status == 200


@pytest.mark.parametrize("kind", ["refuse", "drop", "close"])
def test_a_read_is_tried_again(server: ServerStore, url: str, kind: str) -> None:
    order(url, kind, 1)
    assert server.query(ONE).rows() == [(1,)]


def test_a_read_that_is_refused_each_time_ends(server: ServerStore, url: str) -> None:
    order(url, "refuse", READS)
    with pytest.raises(StoreUnavailable, match=r"LOOM_CLICKHOUSE_URL.*test\.one"):
        server.query(ONE)
    assert server.query(ONE).rows() == [(1,)]


def test_a_server_that_stalls_holds_nobody_beyond_the_deadline(server: ServerStore, url: str) -> None:
    order(url, "stall", READS)
    start = time.monotonic()
    with pytest.raises(DeadlineExceeded, match=r"test\.one"):
        server.query(ONE, Deadline(0.3))
    assert time.monotonic() - start < clickhouse_http.STALL_S
    order(url, "stall", 0)
    assert server.query(ONE).rows() == [(1,)]


@pytest.mark.parametrize(("kind", "there"), [("drop", 1), ("close", 0), ("refuse", 0)])
def test_a_write_is_sent_once(server: ServerStore, url: str, kind: str, there: int) -> None:
    server.command(Statement("test.empty", "TRUNCATE TABLE loom.wire"))
    server.insert(Insert("wire", ("n",), ([],)))
    server.query(Statement("test.types", "SELECT n FROM loom.wire"))
    server.insert(Insert("wire", ("n",), ([7],)))
    order(url, kind, 1)
    with pytest.raises(StoreUnavailable, match="LOOM_CLICKHOUSE_URL"):
        server.insert(Insert("wire", ("n",), ([8],)))
    assert len(server.query(Statement("test.rows", "SELECT n FROM loom.wire"))) == 1 + there


def test_a_server_that_is_not_there_is_named_without_its_secret() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(StoreUnavailable, match="LOOM_CLICKHOUSE_URL") as caught:
            ServerStore(SecretStr(f"http://loom:hush@127.0.0.1:{taken.getsockname()[1]}"), clients=2)
    assert "hush" not in caught.value.message


@pytest.mark.parametrize("code", [164, 516])
def test_a_refused_user_is_told_so(server: ServerStore, code: int) -> None:
    error = server._failure("test.one", DatabaseError("secret", code=code))
    assert isinstance(error, StoreUnavailable)
    assert f"code {code}" in error.message
    assert "secret" not in error.message
