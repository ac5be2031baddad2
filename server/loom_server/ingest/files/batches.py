"""Entries into `memory.set_many`, by org and namespace, in batches bounded by rows and bytes.

The order of a namespace's entries is kept, so that versions of one key follow each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from loom_client.wire import MemoryRefused, MemorySetManyRequest, MemorySetManyResponse
from loom_server.errors import InvalidInput
from loom_server.ingest.files.door import MemoryDoor
from loom_server.ingest.files.entry import Entry, item_of
from loom_server.ingest.files.row import Fault, Row

BATCH_ROWS = 500
BATCH_BYTES = 2_000_000


@dataclass(slots=True)
class Tally:
    """What the writes did so far."""

    written: int = 0
    unchanged: int = 0
    faults: list[Fault] = field(default_factory=list[Fault])


@dataclass(slots=True)
class _Open:
    rows: list[tuple[Row, Entry]] = field(default_factory=list[tuple[Row, Entry]])
    size: int = 0


class Batches:
    """Gathers entries and writes them when a batch is full; `wrote` is told after each."""

    def __init__(self, door: MemoryDoor, wrote: Callable[[], None]) -> None:
        self._door = door
        self._wrote = wrote
        self._open: dict[tuple[str, str], _Open] = {}
        self.tally = Tally()

    def add(self, row: Row, entry: Entry) -> None:
        """Take one entry; may write a batch."""
        size = len(entry.model_dump_json(exclude_unset=True).encode())
        batch = self._open.setdefault((entry.org, entry.namespace), _Open())
        if batch.rows and (len(batch.rows) >= BATCH_ROWS or batch.size + size > BATCH_BYTES):
            self._write(entry.org, entry.namespace)
            batch = self._open.setdefault((entry.org, entry.namespace), _Open())
        batch.rows.append((row, entry))
        batch.size += size

    def flush(self) -> None:
        """Write what is left."""
        for org, namespace in tuple(self._open):
            self._write(org, namespace)

    def _write(self, org: str, namespace: str) -> None:
        rows = self._open.pop((org, namespace)).rows
        items = [item_of(entry) for _, entry in rows]
        try:
            answer = self._door.set_many(MemorySetManyRequest(org=org, namespace=namespace, items=items))
        except InvalidInput as error:
            self.tally.faults += [Fault(row.file, row.at, f"its batch was refused: {error.message}") for row, _ in rows]
        else:
            self._count(rows, answer)
        self._wrote()

    def _count(self, rows: list[tuple[Row, Entry]], answer: MemorySetManyResponse) -> None:
        self.tally.written += answer.written
        self.tally.unchanged += answer.unchanged
        for (row, _), result in zip(rows, answer.results, strict=True):
            if isinstance(result, MemoryRefused):
                self.tally.faults.append(Fault(row.file, row.at, result.error.message))
