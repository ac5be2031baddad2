"""Statements over rows that are named one by one, as a writer needs whose group may hold several tenants.

    /*rows*/    org IN (…) AND namespace IN (…) AND id IN (…)
    /*keys*/    the same over org, namespace, agent, user_id, session_id and memory_key

A ClickHouse server reads 128 KiB of one parameter, so keys go in parts of at most `MOST_BYTES` (`parts_of`).

Every name carries its org and its namespace, so that scope holds by construction here too: a
`NamedTemplate` cannot be bound without names. Ids are unique, hence `/*rows*/` is exact. The product
of the six key lists may reach keys that were not named; whoever reads by keys drops those rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from loom_server.model.memory import Key
from loom_server.store.statement import tenant_reads
from loom_server.store.store import Statement

T = TypeVar("T")

ROWS_MARKER = "/*rows*/"
KEYS_MARKER = "/*keys*/"

_ROWS = "(org IN {orgs:Array(String)} AND namespace IN {namespaces:Array(String)} AND id IN {row_ids:Array(UInt64)})"
_KEYS = (
    "(org IN {orgs:Array(String)} AND namespace IN {namespaces:Array(String)} AND agent IN {agents:Array(String)}"
    " AND user_id IN {users:Array(String)} AND session_id IN {sessions:Array(String)}"
    " AND memory_key IN {memory_keys:Array(String)})"
)


MOST_BYTES = 64_000
"""UTF-8 of the keys of one statement; quoting may double it."""


class Row(NamedTuple):
    """The full name of one stored version."""

    org: str
    namespace: str
    id: int


def parts_of(items: Sequence[T], key_of: Callable[[T], Key]) -> Iterator[Sequence[T]]:
    """The items in their order, in parts whose keys one statement can name."""
    start = size = 0
    for index, item in enumerate(items):
        length = _bytes(key_of(item))
        if index > start and size + length > MOST_BYTES:
            yield items[start:index]
            start, size = index, 0
        size += length
    if items:
        yield items[start:]


def _bytes(key: Key) -> int:
    """Of the parts that may be long and differ, each with its quotes and comma."""
    return sum(len(part.encode()) + 3 for part in (key.agent, key.user_id, key.session_id, key.memory_key))


class NamedTemplate:
    """A named statement that still lacks the rows or the keys it is about."""

    def __init__(self, name: str, sql: str, settings: Mapping[str, int | str] | None = None) -> None:
        reads, named = tenant_reads(sql), sql.count(ROWS_MARKER) + sql.count(KEYS_MARKER)
        if not named or named < reads:
            raise ValueError(f"statement {name} reads {reads} tenant tables and names the rows of {named}")
        self.name = name
        self._sql = sql
        self._settings = dict(settings or {})

    def rows(self, rows: Collection[Row], parameters: Mapping[str, object] | None = None) -> Statement:
        """The statement over these rows."""
        return self._bound({ROWS_MARKER: _ROWS}, _of_rows(rows), parameters)

    def keys(self, keys: Collection[Key], parameters: Mapping[str, object] | None = None) -> Statement:
        """The statement over these keys, and over others that share each part with one of them."""
        return self._bound({KEYS_MARKER: _KEYS}, _of_keys(keys), parameters)

    def both(
        self, keys: Collection[Key], rows: Collection[Row], parameters: Mapping[str, object] | None = None
    ) -> Statement:
        """The statement over these keys in one place and over rows of theirs in another."""
        return self._bound({KEYS_MARKER: _KEYS, ROWS_MARKER: _ROWS}, {**_of_rows(rows), **_of_keys(keys)}, parameters)

    def _bound(
        self,
        predicates: Mapping[str, str],
        names: Mapping[str, Sequence[object]],
        parameters: Mapping[str, object] | None,
    ) -> Statement:
        sql = self._sql
        for marker, predicate in predicates.items():
            sql = sql.replace(marker, predicate)
        if ROWS_MARKER in sql or KEYS_MARKER in sql or not all(names.values()):
            raise ValueError(f"statement {self.name} was bound without the names of what it is about")
        return Statement(self.name, sql, {**names, **(parameters or {})}, self._settings)


def _of_rows(rows: Collection[Row]) -> dict[str, Sequence[object]]:
    return {
        "orgs": sorted({row.org for row in rows}),
        "namespaces": sorted({row.namespace for row in rows}),
        "row_ids": sorted({row.id for row in rows}),
    }


def _of_keys(keys: Collection[Key]) -> dict[str, Sequence[object]]:
    return {
        "orgs": sorted({key.org for key in keys}),
        "namespaces": sorted({key.namespace for key in keys}),
        "agents": sorted({key.agent for key in keys}),
        "users": sorted({key.user_id for key in keys}),
        "sessions": sorted({key.session_id for key in keys}),
        "memory_keys": sorted({key.memory_key for key in keys}),
    }
