"""The store on a ClickHouse server, through clickhouse-connect over HTTP.

    http[s]://user:password@host:8123[/?setting=value]

`driven.py` tells how a statement runs. A statement is killed by its `log_comment`, whose first part is
random, so that no other process's statement carries it. The driver's own tries again are off: a read
that the connection failed is tried again here, within its deadline, and a write never is, since nobody
knows whether its first try came through. After such a write no statement runs before the server has
been seen to run it no more; what it left is then there to be read, and nothing of it comes later.

Blocks are not deduplicated: two writes may well count the same. Inserts are synchronous, whatever the
user's profile says: when one returns, its rows are on disk as far as the table's settings say.

Limits: behind a balancer over several servers the one that is asked for a lost write may not be the one
that runs it. The driver sends a read once more by itself where the server closes the connection
without an answer.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from secrets import token_hex
from threading import Lock
from types import MappingProxyType
from urllib.parse import urlsplit

import stamina
from clickhouse_connect.driver.exceptions import ClickHouseError, OperationalError
from pydantic import SecretStr

from loom_server.errors import ConfigError, DeadlineExceeded, LoomError, StoreUnavailable
from loom_server.settings import Settings
from loom_server.store.client import Client, Result, open_server_clients
from loom_server.store.driven import SHORTEST_RUN_S, DrivenStore, bounds
from loom_server.store.failures import failure
from loom_server.store.store import Statement

READS = 3
"""Most tries of one read."""
FIRST_WAIT_S = 0.05
LONGEST_WAIT_S = 0.5
READ_OUT_S = 5.0
"""How much longer a client waits than the server may run."""
READ_MORE_S = 0.5
"""The same for a read with a deadline, which would rather know."""
LOOK_EVERY_S = 0.05
DENIED_CODES = frozenset({164, 192, 193, 194, 497, 516})


class ServerStore(DrivenStore):
    """A `Store` whose tables other processes may read and write too.

    Raises `ConfigError` for an address that is none, `StoreUnavailable` where the server cannot be reached
    or refuses the user.
    """

    _insert_settings: Mapping[str, object] = MappingProxyType({"insert_deduplicate": 0, "async_insert": 0})

    def __init__(
        self, url: SecretStr, *, clients: int = 6, timeout_s: float = 30.0, memory_bytes: int = 4_000_000_000
    ) -> None:
        _check_address(url)
        try:
            opened = open_server_clients(url, clients + 1, timeout_s + READ_OUT_S, bounds(timeout_s, memory_bytes))
        except ClickHouseError as error:
            raise _refused(error) or StoreUnavailable(
                "LOOM_CLICKHOUSE_URL: the server did not answer; look at its address, and whether it runs."
            ) from error
        super().__init__(opened, timeout_s, token_hex(6))
        self._patience = timeout_s + READ_OUT_S
        self._unsure: frozenset[str] = frozenset()
        self._resolving = Lock()

    @classmethod
    def open(cls, settings: Settings) -> ServerStore:
        """The store that the settings describe."""
        return cls(
            settings.clickhouse_url,
            clients=settings.store_clients,
            timeout_s=settings.statement_timeout_s,
            memory_bytes=settings.statement_memory_bytes,
        )

    @property
    def shared(self) -> bool:
        """Always: the server has other clients."""
        return True

    def close(self) -> None:
        """Wait for running statements and let the server go."""
        self._close_clients()

    def _check(self) -> None:
        if self._unsure:
            with self._resolving, self._pool.lend(None) as client:
                self._resolve(client)

    def _resolve(self, client: Client) -> None:
        """End the writes whose answer was lost. Raises `StoreUnavailable` where the server cannot be asked."""
        unsure = self._unsure
        end = time.monotonic() + READ_OUT_S
        listed = ", ".join(f"'{comment}'" for comment in sorted(unsure))
        while unsure:
            try:
                client.command(f"KILL QUERY WHERE Settings['log_comment'] IN ({listed}) ASYNC")
                running = client.query(
                    f"SELECT count() AS running FROM system.processes WHERE Settings['log_comment'] IN ({listed})",
                    parameters={},
                    settings={},
                    column_oriented=True,
                ).result_columns[0][0]
            except ClickHouseError as error:
                raise self._failure("store.lost_writes", error) from error
            if not running:
                self._unsure -= unsure
                return
            if time.monotonic() > end:
                raise StoreUnavailable("The server still runs a write whose answer was lost; try again in a moment.")
            time.sleep(LOOK_EVERY_S)

    def _failure(self, name: str, error: ClickHouseError) -> LoomError:
        if refused := _refused(error):
            return refused
        if _on_the_wire(error):
            return StoreUnavailable(f"LOOM_CLICKHOUSE_URL: the server did not answer statement {name}.")
        return failure(name, error)

    def _sent(self, block: bytes) -> Generator[bytes]:
        # The driver sends bytes again where the server closes the connection, and the rows would be there twice.
        yield block

    @contextmanager
    def _doubtful(self, comment: str) -> Generator[None]:
        try:
            yield
        except ClickHouseError as error:
            if _on_the_wire(error):
                with self._guard:
                    self._unsure |= {comment}
            raise

    def _read(self, client: Client, statement: Statement) -> Result:
        within = float(statement.settings.get("max_execution_time", self._timeout_s))
        end = time.monotonic() + within
        tries = stamina.retry_context(
            _on_the_wire,
            attempts=READS,
            timeout=within,
            wait_initial=FIRST_WAIT_S,
            wait_max=LONGEST_WAIT_S,
            wait_jitter=FIRST_WAIT_S,
        )
        try:
            for attempt in tries:
                with attempt:
                    left = max(SHORTEST_RUN_S, end - time.monotonic())
                    client.timeout = left + READ_MORE_S
                    settings = {**statement.settings, "max_execution_time": f"{left:.3f}"}
                    return super()._read(client, replace(statement, settings=settings))
        except OperationalError as error:
            if time.monotonic() < end:
                raise
            raise DeadlineExceeded(f"Statement {statement.name} had no answer in time; raise timeout_ms.") from error
        finally:
            client.timeout = self._patience
        raise AssertionError("a last try either answers or raises")


def _check_address(url: SecretStr) -> None:
    address = urlsplit(url.get_secret_value())
    try:
        usable = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError("LOOM_CLICKHOUSE_URL must look like http://user:password@host:8123, or https.")


def _on_the_wire(error: Exception) -> bool:
    """Whether the connection failed, and not the statement."""
    return isinstance(error, OperationalError) or (isinstance(error, ClickHouseError) and _code(error) is None)


def _refused(error: ClickHouseError) -> StoreUnavailable | None:
    if _code(error) not in DENIED_CODES:
        return None
    return StoreUnavailable(
        f"LOOM_CLICKHOUSE_URL: the server refuses its user (code {_code(error)}); "
        "look at the name and password, and grant the user reads, writes and DDL on the database loom."
    )


def _code(error: ClickHouseError) -> int | None:
    return getattr(error, "code", None)
