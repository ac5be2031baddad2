"""The reader of a file, by its kind. A new kind is one new reader and one line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from loom_server.ingest.files.chats import read_chat
from loom_server.ingest.files.documents import read_document
from loom_server.ingest.files.memories import read_memories
from loom_server.ingest.files.row import Bounds, Fault, FileKind, Row, SourceFile

Reader = Callable[[SourceFile, Bounds], Iterator[Row | Fault]]

READERS: Mapping[FileKind, Reader] = MappingProxyType(
    {"markdown": read_document, "text": read_document, "memories": read_memories, "chat": read_chat}
)


def read(file: SourceFile, bounds: Bounds | None = None) -> Iterator[Row | Fault]:
    """The file's rows and faults, in order."""
    return READERS[file.kind](file, bounds or Bounds())
