"""Rows of `memory` kept in the process, so that a search need not read again what it just read.

A version never changes but for its end: superseded, or erased. Whoever ends versions calls
`forget` after the engine has been told and before the writer is answered. A reader that
began before a `forget` may hold a row as it was; it passes the `moment` at which it began,
and what it brings is not kept.

Limits: only for a store that no other process writes to. Rows are counted, not bytes; their
texts are cut to an excerpt.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable

from cachetools import LRUCache

from loom_server.model.memory import Memory
from loom_server.model.scope import Scope
from loom_server.observe.metrics import Count, count_nothing


class KeptRows:
    """A bounded map of row ids to rows, the least recently used of which goes first."""

    def __init__(self, size: int, count: Count = count_nothing) -> None:
        """`size` is the number of rows; 0 keeps none. `count` is told the hits and misses of each look-up."""
        self._size = size
        self._count = count
        self._rows: LRUCache[int, Memory] = LRUCache(max(1, size))
        self._moment = 0
        self._lock = threading.Lock()

    @property
    def moment(self) -> int:
        """Rises with every `forget`."""
        return self._moment

    def look_up(self, scope: Scope, ids: Collection[int]) -> dict[int, Memory]:
        """Those of `ids` that are kept, and of the scope's tenant."""
        with self._lock:
            found = {row_id: self._rows[row_id] for row_id in ids if row_id in self._rows}
        own = {
            row_id: row
            for row_id, row in found.items()
            if row.identity.org == scope.org and row.identity.namespace == scope.namespace
        }
        self._count(len(own), len(ids) - len(own))
        return own

    def keep(self, rows: Iterable[Memory], moment: int) -> None:
        """Keep rows that were read at `moment` or later."""
        with self._lock:
            if self._size and moment == self._moment:
                self._rows.update((row.id, row) for row in rows)

    def forget(self, ids: Iterable[int] | None = None) -> None:
        """Drop the rows of `ids`, or all."""
        with self._lock:
            self._moment += 1
            for row_id in list(self._rows) if ids is None else ids:
                self._rows.pop(row_id, None)
