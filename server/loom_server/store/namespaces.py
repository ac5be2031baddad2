"""What is settled for a namespace, and for its org: preferences, and the one embedding model.

The newest row of a key counts: the one of the highest version. A version is a row id, and above that
of the row before it, so that a clock that steps back loses nothing. An org's own row stands under the
namespace `-`; its `embedding_model` is written by the org's first vector, and changed by a re-embedding alone.
Reads are kept in the process and forgotten at the process's own writes; those of a store that others write to
are at most OTHERS_SEEN_S old.

Changes of one key come one after the other, each made on what the one before left: within the process by a
lock, and among several by a claim to follow the version that was read.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import cast

import orjson
from cachetools import LRUCache, TTLCache

from loom_server.errors import WriteContended
from loom_server.model.clock import RowIds, SystemClock
from loom_server.model.deadline import Deadline
from loom_server.model.memory import Key
from loom_server.model.scope import Scope
from loom_server.store.claims import WAITS_S, Claim
from loom_server.store.process import Process
from loom_server.store.statement import Template
from loom_server.store.store import OTHERS_SEEN_S, Insert, Store

ORG_ROW = "-"
MOVING = "moving_vectors"
"""The mark in the org's own row while its vectors move to another model."""
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

    def __init__(self, store: Store, process: Process | None = None) -> None:
        self.process = process or Process(RowIds(SystemClock()))
        self._store = store
        self._kept = _cache(store.shared)
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

        def followed(before: _Row) -> _Row:
            return replace(before, preferences=changed(dict(before.preferences)))

        return dict(self._follow(org, namespace, followed, deadline).preferences)

    def model_of(self, org: str, deadline: Deadline | None = None) -> str | None:
        """The name of the model whose vectors the org holds; None before the first vector."""
        return self._newest(org, ORG_ROW, deadline).model or None

    def fix_model(self, org: str, model: str) -> str:
        """Hold the org to `model` unless it is held to one already; answers which one counts."""
        if kept := self.model_of(org):
            return kept
        return self._follow(org, ORG_ROW, lambda before: before if before.model else replace(before, model=model)).model

    def _follow(
        self, org: str, namespace: str, followed: Callable[[_Row], _Row], deadline: Deadline | None = None
    ) -> _Row:
        """Replace the newest row by what `followed` makes of it, unless that is the same row; answers with it."""
        claims = self.process.claims
        with self._lock_of(org, namespace):
            for wait in WAITS_S:
                judged_at = time.monotonic()
                before = (
                    self._newest(org, namespace, deadline) if claims is None else self._read(org, namespace, deadline)
                )
                after = followed(before)
                if after is before:
                    return before
                claimed = claims and claims.take([Claim(_claim_key(org, namespace), before.version)], judged_at)
                if claimed is None or not claimed.contested:
                    self._write(org, namespace, after)
                    return after
                time.sleep(random.uniform(0, wait))  # noqa: S311
        raise WriteContended("namespace: other processes keep changing its settings; try again in a moment.")

    def move_model(self, org: str, model: str) -> None:
        """Hold the org to `model` from now on, whatever it was held to."""
        self._follow(org, ORG_ROW, lambda before: before if before.model == model else replace(before, model=model))

    def moving(self, org: str) -> bool:
        """Whether a move of the org's vectors was begun and is not over."""
        return bool(self._newest(org, ORG_ROW, None).preferences.get(MOVING))

    def mark_moving(self, org: str, moving: bool) -> None:
        """Write down that a move of the org's vectors begins, or that it is over."""
        if self.moving(org) != moving:
            self.change(org, ORG_ROW, lambda before: {**before, MOVING: moving})

    def _lock_of(self, org: str, namespace: str) -> threading.Lock:
        return self._locks[hash((org, namespace)) % _LOCKS]

    def _newest(self, org: str, namespace: str, deadline: Deadline | None) -> _Row:
        with self._guard:
            kept = self._kept.get((org, namespace))
        if kept is not None:
            return kept
        newest = self._read(org, namespace, deadline)
        with self._guard:
            return self._kept.setdefault((org, namespace), newest)

    def _read(self, org: str, namespace: str, deadline: Deadline | None) -> _Row:
        found = self._store.query(_NEWEST.bind(Scope(org, namespace)), deadline).rows()
        return _row(*found[0]) if found else _Row()

    def _write(self, org: str, namespace: str, row: _Row) -> None:
        """Write the row above its own version; the key's lock is held."""
        version = max(self.process.ids.next(), row.version + 1)
        values = (org, namespace, version, row.model, orjson.dumps(row.preferences).decode(), datetime.now(UTC))
        columns = ("org", "namespace", "version", "embedding_model", "preferences", "updated_at")
        self._store.insert(Insert("namespaces", columns, tuple([value] for value in values)))
        with self._guard:
            self._kept[org, namespace] = replace(row, version=version)


def _cache(shared: bool) -> MutableMapping[tuple[str, str], _Row]:
    if shared:
        return TTLCache[tuple[str, str], _Row, float](KEPT, OTHERS_SEEN_S)
    return LRUCache(KEPT)


def _claim_key(org: str, namespace: str) -> Key:
    """No memory has an empty key."""
    return Key(org, namespace, "", "", "", "")


def _row(version: object, model: object, preferences: object) -> _Row:
    return _Row(cast(int, version), cast(str, model), cast(Preferences, orjson.loads(cast(str, preferences))))
