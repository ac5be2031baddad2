"""What is settled for a namespace, and for its org: preferences, and the one embedding model.

The newest row of a key counts. An org's own row stands under the namespace `-`; its
`embedding_model` is written once, by the org's first vector, and never changed here.
Reads are kept in the process and forgotten at the process's own writes.
"""

from __future__ import annotations

import threading
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

_NEWEST = Template(
    "namespaces.newest",
    """
SELECT embedding_model, preferences
FROM loom.namespaces
WHERE /*scope*/
ORDER BY version DESC
LIMIT 1
""",
    identity=False,
)

Preferences = dict[str, object]


class Namespaces:
    """Reads and writes the `namespaces` table; safe from many threads."""

    def __init__(self, store: Store, versions: RowIds | None = None) -> None:
        self._store = store
        self._versions = versions or RowIds(SystemClock())
        self._kept: LRUCache[tuple[str, str], tuple[str, Preferences]] = LRUCache(KEPT)
        self._lock = threading.Lock()

    def preferences(self, org: str, namespace: str, deadline: Deadline | None = None) -> Preferences:
        """What the namespace was set to; empty where nothing was."""
        return dict(self._newest(org, namespace, deadline)[1])

    def set_preferences(self, org: str, namespace: str, preferences: Preferences) -> None:
        """Replace the namespace's preferences."""
        self._write(org, namespace, "", preferences)

    def model_of(self, org: str, deadline: Deadline | None = None) -> str | None:
        """The name of the model whose vectors the org holds; None before the first vector."""
        return self._newest(org, ORG_ROW, deadline)[0] or None

    def fix_model(self, org: str, model: str) -> str:
        """Hold the org to `model` unless it is held to one already; answers which one counts."""
        held = self.model_of(org)
        if held is not None:
            return held
        self._write(org, ORG_ROW, model, {})
        return model

    def _newest(self, org: str, namespace: str, deadline: Deadline | None) -> tuple[str, Preferences]:
        with self._lock:
            kept = self._kept.get((org, namespace))
        if kept is not None:
            return kept
        found = self._store.query(_NEWEST.bind(Scope(org, namespace)), deadline)
        row = found.rows()[0] if len(found) else ("", "{}")
        newest = (cast(str, row[0]), cast(Preferences, orjson.loads(cast(str, row[1]))))
        with self._lock:
            return self._kept.setdefault((org, namespace), newest)

    def _write(self, org: str, namespace: str, model: str, preferences: Preferences) -> None:
        row = (org, namespace, self._versions.next(), model, orjson.dumps(preferences).decode(), datetime.now(UTC))
        columns = ("org", "namespace", "version", "embedding_model", "preferences", "updated_at")
        self._store.insert(Insert("namespaces", columns, tuple([value] for value in row)))
        with self._lock:
            self._kept[org, namespace] = (model, preferences)
