"""What is settled for a namespace, and for its org: preferences, and the one embedding model.

The newest row of a key counts: the one of the highest version. A version is a row id, and above that
of the row before it, so that a clock that steps back loses nothing. An org's own row stands under the
namespace `-`; its `embedding_model` is written once, by the org's first vector, and never changed here.
Reads are kept in the process and forgotten at the process's own writes.

Within the process, changes of one key come one after the other, each made on what the one before left.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import cast

import orjson
from cachetools import LRUCache

from loom_server.model.clock import RowIds, SystemClock
from loom_server.model.deadline import Deadline
from loom_server.model.scope import Scope
from loom_server.store.statement import Template
from loom_server.store.store import Insert, Store

ORG_ROW = "-"
KEPT = 10_000
_LOCKS = 64

_NEWEST = Template(
    "namespaces.newest",
    """
SELECT version, embedding_model, preferences
FROM loom.namespaces
WHERE /*scope*/
ORDER BY version DESC
LIMIT 1
""",
    identity=False,
)

Preferences = dict[str, object]


@dataclass(frozen=True, slots=True)
class _Row:
    """The newest row of a key; version 0 where there is none."""

    version: int = 0
    model: str = ""
    preferences: Preferences = field(default_factory=dict[str, object])


class Namespaces:
    """Reads and writes the `namespaces` table; safe from many threads."""

    def __init__(self, store: Store, versions: RowIds | None = None) -> None:
        self._store = store
        self._versions = versions or RowIds(SystemClock())
        self._kept: LRUCache[tuple[str, str], _Row] = LRUCache(KEPT)
        self._guard = threading.Lock()
        self._locks = tuple(threading.Lock() for _ in range(_LOCKS))

    def preferences(self, org: str, namespace: str, deadline: Deadline | None = None) -> Preferences:
        """What the namespace was set to; empty where nothing was."""
        return dict(self._newest(org, namespace, deadline).preferences)

    def change(
        self,
        org: str,
        namespace: str,
        changed: Callable[[Preferences], Preferences],
        deadline: Deadline | None = None,
    ) -> Preferences:
        """Replace the preferences by what `changed` makes of them, and answer with that.

        No other change of the namespace comes between. `changed` may raise, and then nothing is written;
        it must not wait for the writer, who may be waiting to fix a model.
        """
        with self._lock_of(org, namespace):
            before = self._newest(org, namespace, deadline)
            after = changed(dict(before.preferences))
            self._write(org, namespace, replace(before, preferences=after))
            return dict(after)

    def model_of(self, org: str, deadline: Deadline | None = None) -> str | None:
        """The name of the model whose vectors the org holds; None before the first vector."""
        return self._newest(org, ORG_ROW, deadline).model or None

    def fix_model(self, org: str, model: str) -> str:
        """Hold the org to `model` unless it is held to one already; answers which one counts."""
        with self._lock_of(org, ORG_ROW):
            before = self._newest(org, ORG_ROW, None)
            if not before.model:
                self._write(org, ORG_ROW, replace(before, model=model))
            return before.model or model

    def _lock_of(self, org: str, namespace: str) -> threading.Lock:
        return self._locks[hash((org, namespace)) % _LOCKS]

    def _newest(self, org: str, namespace: str, deadline: Deadline | None) -> _Row:
        with self._guard:
            kept = self._kept.get((org, namespace))
        if kept is not None:
            return kept
        found = self._store.query(_NEWEST.bind(Scope(org, namespace)), deadline).rows()
        newest = _row(*found[0]) if found else _Row()
        with self._guard:
            return self._kept.setdefault((org, namespace), newest)

    def _write(self, org: str, namespace: str, row: _Row) -> None:
        """Write the row above its own version; the key's lock is held."""
        version = max(self._versions.next(), row.version + 1)
        values = (org, namespace, version, row.model, orjson.dumps(row.preferences).decode(), datetime.now(UTC))
        columns = ("org", "namespace", "version", "embedding_model", "preferences", "updated_at")
        self._store.insert(Insert("namespaces", columns, tuple([value] for value in values)))
        with self._guard:
            self._kept[org, namespace] = replace(row, version=version)


def _row(version: object, model: object, preferences: object) -> _Row:
    return _Row(cast(int, version), cast(str, model), cast(Preferences, orjson.loads(cast(str, preferences))))
