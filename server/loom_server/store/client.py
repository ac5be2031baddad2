"""One client of the driver, with the types that the driver leaves out."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any, Protocol, cast

import clickhouse_connect
from clickhouse_connect.driver.exceptions import ClickHouseError
from pydantic import SecretStr

from loom_server.errors import StoreUnavailable


class Result(Protocol):
    """What a query answers; both are empty where there are no rows."""

    @property
    def column_names(self) -> Sequence[str]: ...

    @property
    def result_columns(self) -> Sequence[Sequence[object]]: ...


class Client(Protocol):
    """What the store uses of the driver's client."""

    timeout: float
    """Seconds that a client of a server waits for it."""

    def query(
        self,
        query: str,
        *,
        parameters: Mapping[str, object],
        settings: Mapping[str, object],
        column_oriented: bool,
    ) -> Result: ...

    def raw_insert(
        self,
        table: str,
        column_names: Sequence[str],
        insert_block: bytes | Generator[bytes],
        settings: Mapping[str, object],
        fmt: str,
    ) -> object: ...

    def command(
        self, cmd: str, parameters: Mapping[str, object] | None = None, *, settings: Mapping[str, object] | None = None
    ) -> object: ...

    def close(self) -> None: ...


def open_clients(engine: Path, number: int, defaults: Mapping[str, object]) -> tuple[Client, ...]:
    """`number` clients of the embedded engine in `engine`, each with the `defaults` as its settings.

    Raises `StoreUnavailable`.
    """
    opened: list[Client] = []
    try:
        while len(opened) < number:
            opened.append(_open(engine, defaults))
    except ClickHouseError as error:
        for client in opened:
            client.close()
        if "different path" in str(error):
            raise StoreUnavailable(
                "This process already has a store open on another directory; the embedded engine allows one."
            ) from error
        raise StoreUnavailable(
            f"The embedded engine cannot open {engine}; another program may hold it, or it is damaged or not writable."
        ) from error
    return tuple(opened)


def open_server_clients(
    url: SecretStr, number: int, read_out_s: float, defaults: Mapping[str, object]
) -> tuple[Client, ...]:
    """`number` clients of the server at `url`, without sessions, each with a connection pool of its own.

    The driver's own tries again are off; its errors leave as they are.
    """
    opened: list[Client] = []
    try:
        while len(opened) < number:
            opened.append(_connect(url, read_out_s, defaults))
    except ClickHouseError:
        for client in opened:
            client.close()
        raise
    return tuple(opened)


def _connect(url: SecretStr, read_out_s: float, defaults: Mapping[str, object]) -> Client:
    driver = cast(Any, clickhouse_connect)
    client = driver.get_client(
        dsn=url.get_secret_value(),
        autogenerate_session_id=False,
        query_retries=0,
        send_receive_timeout=ceil(read_out_s),
        dedicated_pool=True,
        settings=dict(defaults),
        tz_mode="aware",
        show_clickhouse_errors=True,
    )
    client.http_retries = 0
    return cast(Client, client)


def _open(engine: Path, defaults: Mapping[str, object]) -> Client:
    driver = cast(Any, clickhouse_connect)
    return cast(Client, driver.get_client(interface="chdb", path=str(engine), settings=dict(defaults), tz_mode="aware"))
