"""Statements over rows that are named one by one, as a writer needs whose group may hold several tenants.

    /*rows*/    org IN (…) AND namespace IN (…) AND id IN (…)
    /*keys*/    the same over org, namespace, agent, user_id, session_id and memory_key

Every name carries its org and its namespace, so that scope holds by construction here too: a
`NamedTemplate` cannot be bound without names. Ids are unique, hence `/*rows*/` is exact. The product
of the six key lists may reach keys that were not named; whoever reads by keys drops those rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from loom_server.model.memory import Key
from loom_server.store.statement import tenant_reads
from loom_server.store.store import Statement

ROWS_MARKER = "/*rows*/"
KEYS_MARKER = "/*keys*/"

_ROWS = "(org IN {orgs:Array(String)} AND namespace IN {namespaces:Array(String)} AND id IN {ids:Array(UInt64)})"
_KEYS = (
    "(org IN {orgs:Array(String)} AND namespace IN {namespaces:Array(String)} AND agent IN {agents:Array(String)}"
    " AND user_id IN {users:Array(String)} AND session_id IN {sessions:Array(String)}"
    " AND memory_key IN {memory_keys:Array(String)})"
)


class Row(NamedTuple):
    """The full name of one stored version."""

    org: str
    namespace: str
    id: int


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
        orgs, namespaces, ids = ({row[part] for row in rows} for part in range(3))
        values = {"orgs": sorted(map(str, orgs)), "namespaces": sorted(map(str, namespaces)), "ids": sorted(ids)}
        return self._bound(ROWS_MARKER, _ROWS, rows, {**values, **(parameters or {})})

    def keys(self, keys: Collection[Key], parameters: Mapping[str, object] | None = None) -> Statement:
        """The statement over these keys, and over others that share each part with one of them."""
        values = {
            "orgs": sorted({key.org for key in keys}),
            "namespaces": sorted({key.namespace for key in keys}),
            "agents": sorted({key.agent for key in keys}),
            "users": sorted({key.user_id for key in keys}),
            "sessions": sorted({key.session_id for key in keys}),
            "memory_keys": sorted({key.memory_key for key in keys}),
        }
        return self._bound(KEYS_MARKER, _KEYS, keys, {**values, **(parameters or {})})

    def _bound(self, marker: str, predicate: str, named: Collection[object], values: dict[str, object]) -> Statement:
        if not named or marker not in self._sql:
            raise ValueError(f"statement {self.name} was bound without what {marker} names")
        return Statement(self.name, self._sql.replace(marker, predicate), values, self._settings)
