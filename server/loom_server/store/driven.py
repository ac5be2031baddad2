"""What a store does over clients of the driver.

`EmbeddedStore` adds the engine and its directory, `ServerStore` the wire.

Every statement runs on a client of its own from a pool, bounded in time (what is left of its
deadline) and in memory, on one thread unless it asks for more, under a `log_comment` that no
other statement carries. A deadline that is cancelled stops its statements in the engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from threading import Lock
from time import perf_counter
from types import MappingProxyType

from clickhouse_connect.driver.exceptions import ClickHouseError

from loom_server.errors import Cancelled, DeadlineExceeded, LoomError, ResourceExhausted, StoreUnavailable
from loom_server.model.deadline import Deadline
from loom_server.store.cancel import Killer
from loom_server.store.client import Client, Result
from loom_server.store.failures import failure
from loom_server.store.native import encode
from loom_server.store.parameters import bound
from loom_server.store.pool import Pool
from loom_server.store.store import Columns, Insert, Observer, Outcome, Statement

SHORTEST_RUN_S = 0.001
_UNSAFE = re.compile(r"[^\w.-]")
_TAKES_SETTINGS = ("UPDATE", "DELETE", "OPTIMIZE")
_CHANGES_TABLES = ("CREATE", "ALTER", "DROP", "RENAME", "EXCHANGE")


def bounds(timeout_s: float, memory_bytes: int) -> dict[str, object]:
    """The settings of a client whose statements bring none of their own."""
    return {"max_execution_time": timeout_s, "max_memory_usage": memory_bytes, "max_threads": 1}


class DrivenStore:
    """The statements of a `Store`; one client of `opened` kills, the others are lent out.

    `mark` keeps this store's comments apart from those of any other process on the engine.
    """

    _insert_settings: Mapping[str, object] = MappingProxyType({})

    def __init__(self, opened: Sequence[Client], timeout_s: float, mark: str) -> None:
        self._timeout_s = timeout_s
        self._killer = Killer(opened[0])
        self._pool = Pool(opened[1:], longest_wait_s=timeout_s)
        self._mark = mark
        self._numbers = count(1)
        self._types: dict[str, Mapping[str, str]] = {}
        self._observers: tuple[Observer, ...] = ()
        self._guard = Lock()
        self._closed = False

    @property
    def timeout_s(self) -> float:
        """The longest run of a statement."""
        return self._timeout_s

    @property
    def clients_in_use(self) -> int:
        """Clients that run a statement now; none after `close`."""
        return 0 if self._closed else self._pool.in_use

    def query(self, statement: Statement, deadline: Deadline | None = None) -> Columns:
        """Run a read; see `Store.query`."""
        with self._told(statement.name) as report, self._pool.lend(deadline) as client:
            comment = self._comment(statement.name)
            settings = {"log_comment": comment, **self._time_left(deadline), **statement.settings}
            with self._killable(comment, deadline):
                result = self._read(client, replace(statement, settings=settings))
            columns = Columns(tuple(result.column_names), tuple(result.result_columns))
            report(len(columns))
            return columns

    def insert(self, insert: Insert) -> None:
        """Append rows; see `Store.insert`. Raises ValueError where a value is not of its column's type."""
        if not len(insert):
            return
        name = f"insert.{insert.table}"
        block = encode(insert, self._column_types(insert.table))
        comment = self._comment(name)
        with self._told(name) as report, self._pool.lend(None) as client, self._doubtful(comment):
            client.raw_insert(
                f"loom.{insert.table}",
                insert.columns,
                self._sent(block),
                settings={"log_comment": comment, **self._insert_settings},
                fmt="Native",
            )
            report(len(insert))

    def command(self, statement: Statement) -> None:
        """Run a statement that returns nothing; see `Store.command`."""
        verb = statement.sql.split(None, 1)[0].upper()
        sql, settings, comment = statement.sql, dict(statement.settings), self._comment(statement.name)
        if verb in _TAKES_SETTINGS:
            # As a clause: the driver would set and restore them with statements of their own, 4 ms more.
            sql = f"{sql}\nSETTINGS {_clause({'log_comment': comment, **settings})}"
            settings = {}
        with self._told(statement.name), self._pool.lend(None) as client, self._doubtful(comment):
            client.command(sql, parameters=bound(statement.parameters), settings=settings)
        if verb in _CHANGES_TABLES:
            self._types.clear()

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Tell `observer` of every statement from now on; call the answer to stop."""
        with self._guard:
            self._observers += (observer,)

        def stop() -> None:
            with self._guard:
                self._observers = tuple(other for other in self._observers if other is not observer)

        return stop

    @property
    def was_clean(self) -> bool:
        """Whether nothing has to be swept before the first write."""
        return True

    def settle(self) -> None:
        """Say that a sweep has found and finished everything."""

    def publish_address(self, url: str) -> None:
        """Tell other processes of this store where this one answers, as far as they have to know."""

    def doubt(self) -> None:
        """Say that something was left half done; see `Store.doubt`."""

    def _close_clients(self) -> bool:
        """Wait for running statements and close every client; false where that was done before."""
        with self._guard:
            if self._closed:
                return False
            self._closed = True
        self._pool.close()
        self._killer.close()
        return True

    def _check(self) -> None:
        """Raise where no statement may run now."""

    def _read(self, client: Client, statement: Statement) -> Result:
        """The engine's answer to a read."""
        return client.query(
            statement.sql,
            parameters=bound(statement.parameters),
            settings=statement.settings,
            column_oriented=True,
        )

    def _sent(self, block: bytes) -> bytes | Generator[bytes]:
        """An insert's block as the driver is to take it."""
        return block

    def _failure(self, name: str, error: ClickHouseError) -> LoomError:
        """What to raise for the driver's `error`."""
        return failure(name, error)

    def _column_types(self, table: str) -> Mapping[str, str]:
        if table not in self._types:
            sql = "SELECT name, type FROM system.columns WHERE database = 'loom' AND table = {table:String}"
            names, types = self.query(Statement("store.columns", sql, {"table": table})).data or ((), ())
            if not names:
                raise StoreUnavailable(f"The table {table} does not exist yet; run the migrations (loom migrate).")
            self._types[table] = dict(zip(map(str, names), map(str, types), strict=True))
        return self._types[table]

    def _comment(self, name: str) -> str:
        return f"{_UNSAFE.sub('_', name)} {self._mark}-{next(self._numbers)}"

    def _time_left(self, deadline: Deadline | None) -> dict[str, str]:
        if deadline is None:
            return {}
        deadline.check()
        # Zero would mean "for ever" to the engine.
        return {"max_execution_time": f"{max(SHORTEST_RUN_S, min(deadline.left(), self._timeout_s)):.3f}"}

    @contextmanager
    def _killable(self, comment: str, deadline: Deadline | None) -> Generator[None]:
        if deadline is None:
            yield
            return
        self._killer.begun(comment)
        unregister = deadline.on_cancel(lambda: self._killer.kill(comment))
        try:
            yield
        finally:
            unregister()
            self._killer.ended(comment)

    @contextmanager
    def _doubtful(self, comment: str) -> Generator[None]:
        """A write that does not come through may have left a part of it."""
        try:
            yield
        except BaseException:
            self.doubt()
            raise

    @contextmanager
    def _told(self, name: str) -> Generator[Callable[[int], None]]:
        """Turn the engine's errors into ours, and tell the observers how it went."""
        start = perf_counter()
        rows = 0
        outcome: Outcome = "failed"

        def report(number: int) -> None:
            nonlocal rows
            rows = number

        try:
            self._check()
            yield report
            outcome = "ok"
        except ClickHouseError as error:
            raised = self._failure(name, error)
            outcome = _outcome(raised)
            raise raised from error
        except LoomError as error:
            outcome = _outcome(error)
            raise
        finally:
            for observer in self._observers:
                observer(name, perf_counter() - start, rows, outcome)


def _outcome(error: LoomError) -> Outcome:
    match error:
        case DeadlineExceeded():
            return "deadline"
        case Cancelled():
            return "cancelled"
        case ResourceExhausted():
            return "exhausted"
        case _:
            return "failed"


def _clause(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{name} = '{value}'" for name, value in settings.items())
