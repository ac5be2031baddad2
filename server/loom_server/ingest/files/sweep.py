"""What a file no longer makes: rows made from it, under its own prefix, that this run did not.

Only rows of the run's own writer whose `source_resource_id` is the file are looked at, so a
memory that somebody set by hand under a like key stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from loom_client.wire import NONE, MemoryDeleteRequest, MemoryListRequest, StoredMemory
from loom_server.ingest.files.door import MemoryDoor
from loom_server.ingest.files.entry import Entry, Owner
from loom_server.ingest.files.row import SourceFile

PAGE_ROWS = 1_000


@dataclass(slots=True)
class Made:
    """The keys, each with its session, that a file made in this run."""

    file: SourceFile
    keys: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def add(self, entry: Entry) -> None:
        """Note a row that the file makes."""
        self.keys.add((entry.memory_key, entry.session_id or NONE))


def sweep(made: Made, owner: Owner, door: MemoryDoor) -> int:
    """Delete the file's stale rows; how many there were."""
    stale = [row for row in _stored(made.file, owner, door) if _is_stale(row, made)]
    for row in stale:
        door.delete(
            MemoryDeleteRequest(
                org=owner.org,
                namespace=row.namespace,
                agent=row.agent or NONE,
                user_id=row.user_id or NONE,
                session_id=row.session_id or NONE,
                memory_key=row.memory_key,
            )
        )
    return len(stale)


def _is_stale(row: StoredMemory, made: Made) -> bool:
    own = row.source_resource_id == made.file.resource
    return own and (row.memory_key, row.session_id or NONE) not in made.keys


def _stored(file: SourceFile, owner: Owner, door: MemoryDoor) -> Iterator[StoredMemory]:
    cursor: str | None = None
    while True:
        page = door.list(
            MemoryListRequest(
                org=owner.org,
                namespace=owner.namespace,
                agent=owner.agent or NONE,
                user_id=owner.user_id or NONE,
                prefix=file.key_prefix,
                limit=PAGE_ROWS,
                cursor=cursor,
            )
        )
        yield from page.memories
        cursor = page.next_cursor
        if cursor is None:
            return
