"""Answers of writes by the names that callers gave them, for a day.

    name     org, operation, SHA-256 of the key
    kept     SHA-256 of the request, and the answer's bytes, or none where it is larger than MOST_BYTES

A name is kept once: the first row counts, should two processes have written one each. What was kept is held in the
process too, up to HELD_BYTES, since it never changes; any other name is looked for in the table. Callers who come at
the same time share a look-up and an insert.

Nearly every name is new. So the one process of an embedded store reads at its first call which names there are, as 64
bits of each, and looks for none that is not among them: a wrong match costs a look-up and nothing else. With more than
MOST_KNOWN of them, and on a store that others write to, each name is looked for.

The engine drops rows after a day when it merges; what is older does not count before that either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import NamedTuple, cast

from cachetools import LRUCache

from loom_server.model.clock import Clock
from loom_server.model.scope import Scope
from loom_server.store.batched import LINGER_S, Batched
from loom_server.store.namespaces import ORG_ROW
from loom_server.store.statement import Template
from loom_server.store.store import Insert, Statement, Store

KEPT_FOR = timedelta(days=1)
MOST_BYTES = 1_000_000
"""Of an answer. That of a `memory.set_many` with 1,000 items and the longest keys has about 800,000."""

HELD_BYTES = 16_000_000
MOST_KNOWN = 500_000
_ROW_BYTES = 400

_KNOWN = "SELECT DISTINCT substring(key, 1, 16) AS bits FROM loom.idempotency WHERE at > {since:DateTime64(3, 'UTC')}"

_FIND = Template(
    "idempotency.find",
    """
SELECT operation, key, request, whole, answer, at
FROM loom.idempotency
WHERE /*scope*/ AND operation IN {operations:Array(String)} AND key IN {keys:Array(String)}
    AND at > {since:DateTime64(3, 'UTC')}
ORDER BY at
LIMIT 1 BY operation, key
""",
    identity=False,
)
_COLUMNS = ("org", "operation", "key", "request", "whole", "answer", "at")


class Name(NamedTuple):
    """What a caller calls one write: `key` is the SHA-256 of its Idempotency-Key, as hex."""

    org: str
    operation: str
    key: str


@dataclass(frozen=True, slots=True)
class Kept:
    """What is known of a call that was done. `answer` is None where it was too large to be kept."""

    request: str
    answer: bytes | None
    at: datetime


class Answers:
    """Reads and writes the table; safe from many threads."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._guard = Lock()
        self._held: LRUCache[Name, Kept] = LRUCache(HELD_BYTES, _size)
        self._known: set[int] | None = None
        self._every = store.shared
        self._loading = Lock()
        self._find = Batched(self._found)
        self._insert = Batched(self._inserted, LINGER_S)

    def find(self, name: Name) -> Kept | None:
        """What is kept under the name; None where nothing is, or no longer. Raises a `StoreError`."""
        with self._guard:
            held = self._held.get(name)
        if held is None and self._may_be_there(name):
            held = self._find(name)
        return held if held is not None and held.at > self._since() else None

    def keep(self, name: Name, request: str, answer: bytes) -> None:
        """Keep the answer of a call that was done.

        Raises a `StoreError` where that failed: then the process alone knows it, for as long as it has room.
        """
        now = self._clock.now()
        # As exact as the table, so that what is held and what is read agree.
        at = now.replace(microsecond=now.microsecond // 1000 * 1000)
        kept = Kept(request, answer if len(answer) <= MOST_BYTES else None, at)
        self._hold(name, kept)
        self._insert((name, kept))

    def _hold(self, name: Name, kept: Kept) -> None:
        with self._guard:
            self._held[name] = kept
            if self._known is not None:
                self._known.add(_bits(name.key))
                self._every = self._every or len(self._known) > MOST_KNOWN

    def _may_be_there(self, name: Name) -> bool:
        """Whether the table may hold the name."""
        if self._every:
            return True
        with self._loading:
            known = self._known
            if known is None:
                known = self._known = self._load()
        with self._guard:
            return self._every or _bits(name.key) in known

    def _load(self) -> set[int]:
        """The names of the table, should they not be too many."""
        limits = {"since": self._since(), "most": MOST_KNOWN + 1}
        rows = self._store.query(Statement("idempotency.known", f"{_KNOWN} LIMIT {{most:UInt64}}", limits))
        self._every = len(rows) > MOST_KNOWN
        return set() if self._every else {_bits(cast(str, bits)) for bits in rows.column("bits")}

    def _since(self) -> datetime:
        return self._clock.now() - KEPT_FOR

    def _found(self, names: Sequence[Name]) -> list[Kept | None]:
        found: dict[Name, Kept] = {}
        for org in sorted({name.org for name in names}):
            own = [name for name in names if name.org == org]
            parameters = {
                "operations": sorted({name.operation for name in own}),
                "keys": sorted({name.key for name in own}),
                "since": self._since(),
            }
            rows = self._store.query(_FIND.bind(Scope(org, ORG_ROW), parameters)).rows()
            found.update(_read(org, row) for row in rows)
        for name in found.keys() & set(names):
            self._hold(name, found[name])
        return [found.get(name) for name in names]

    def _inserted(self, rows: Sequence[tuple[Name, Kept]]) -> list[None]:
        values = [
            (*name, kept.request, int(kept.answer is not None), (kept.answer or b"").decode(), kept.at)
            for name, kept in rows
        ]
        self._store.insert(Insert("idempotency", _COLUMNS, tuple(map(list, zip(*values, strict=True)))))
        return [None] * len(rows)


def _bits(key: str) -> int:
    return int(key[:16], 16)


def _size(kept: Kept) -> int:
    return _ROW_BYTES + len(kept.answer or b"")


def _read(org: str, row: Sequence[object]) -> tuple[Name, Kept]:
    operation, key, request, whole, answer, at = row
    told = cast(str, answer).encode() if whole else None
    return Name(org, cast(str, operation), cast(str, key)), Kept(cast(str, request), told, cast(datetime, at))
