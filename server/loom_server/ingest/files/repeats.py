"""Keys that one JSONL file sets more than once: a chain of versions, oldest first.

Written row by row a second time, a chain would start again from its first value. So it is
held back until the file is read, and written as a whole or not at all. Whether its end is stored is
the store's own word: a write of the last row, run dry, would change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from loom_client.wire import MemoryRefused, MemorySetManyRequest
from loom_server.ingest.files.door import MemoryDoor
from loom_server.ingest.files.entry import Entry, EntryKey, Owner, item_of, key_of
from loom_server.ingest.files.read import read
from loom_server.ingest.files.row import Bounds, Row, SourceFile

Chain = list[tuple[Row, Entry]]


def repeated(file: SourceFile, owner: Owner, bounds: Bounds) -> frozenset[int]:
    """Hashes of the keys that occur more than once; 8 bytes a key, since the file may be large."""
    seen: set[int] = set()
    again: set[int] = set()
    for item in read(file, bounds) if file.kind == "memories" else ():
        if isinstance(item, Row):
            key = hash(key_of(item.fields, owner))
            (again if key in seen else seen).add(key)
    return frozenset(again)


class Chains:
    """The chains of one file."""

    def __init__(self, keys: frozenset[int]) -> None:
        self._keys = keys
        self._chains: dict[EntryKey, Chain] = {}

    def holds(self, row: Row, entry: Entry, owner: Owner) -> bool:
        """Keep the entry, where its key is set again in the file."""
        key = key_of(row.fields, owner)
        if hash(key) not in self._keys:
            return False
        self._chains.setdefault(key, []).append((row, entry))
        return True

    def missing(self, door: MemoryDoor) -> Iterator[Chain]:
        """The chains whose last row the store does not hold."""
        for chain in self._chains.values():
            if not _is_stored(chain[-1][1], door):
                yield chain

    def __len__(self) -> int:
        return sum(len(chain) for chain in self._chains.values())


def _is_stored(last: Entry, door: MemoryDoor) -> bool:
    # What the last row expects is the value before it, which it has replaced.
    item = item_of(last).model_copy(update={"if_match_sha256": None})
    request = MemorySetManyRequest(org=last.org, namespace=last.namespace, items=[item], dry_run=True)
    result = door.set_many(request).results[0]
    return not isinstance(result, MemoryRefused) and result.noop
