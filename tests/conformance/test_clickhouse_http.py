"""The stand-in speaks enough of the wire for clickhouse-connect, and goes wrong to order."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import clickhouse_connect
import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError, DatabaseError

PROGRAM = Path(__file__).parents[1] / "support" / "clickhouse_http.py"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    command = [sys.executable, str(PROGRAM), str(tmp_path_factory.mktemp("stand-in"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield json.loads(process.stdout.readline())["url"]
        process.kill()


@pytest.fixture(params=["lz4", "zstd", "gzip", False])
def client(url: str, request: pytest.FixtureRequest) -> Client:
    return clickhouse_connect.get_client(dsn=url, autogenerate_session_id=False, compress=request.param)


def test_it_reads_back_what_was_inserted(client: Client) -> None:
    client.command("CREATE OR REPLACE TABLE t (a UInt32, v Array(Float32)) ENGINE = MergeTree ORDER BY a")
    client.insert("t", [[1, [1.0, 2.0]], [2, []]], column_names=["a", "v"])
    assert client.query("SELECT * FROM t ORDER BY a").result_rows == [(1, [1.0, 2.0]), (2, [])]


def test_it_binds_parameters_and_names_the_error(client: Client) -> None:
    awkward = "it's\t\\x 尺寸"
    assert client.query("SELECT {s:String}", parameters={"s": awkward}).result_rows == [(awkward,)]
    with pytest.raises(DatabaseError) as raised:
        client.query("SELECT nope")
    assert raised.value.code == 47


def test_a_dropped_answer_has_been_executed(url: str) -> None:
    client = clickhouse_connect.get_client(dsn=url, autogenerate_session_id=False)
    client.command("CREATE OR REPLACE TABLE d (a UInt32) ENGINE = MergeTree ORDER BY a")
    urlopen(f"{url}/orders", data=b'{"drop": 9}').close()
    with pytest.raises(ClickHouseError):
        client.command("INSERT INTO d VALUES (1)")
    urlopen(f"{url}/orders", data=b"{}").close()
    assert client.query("SELECT count() > 0 FROM d").result_rows == [(1,)]
