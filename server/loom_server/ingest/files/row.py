"""What the readers yield: rows to store, and faults to name.

A `Row` holds fields of `memory.set` by their wire names; the wire model judges them, so
there is one place that says what a field may be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from loom_server.ingest.files.names import stem

FileKind = Literal["markdown", "text", "memories", "chat"]
Severity = Literal["skipped", "failed"]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read. `name` is its place under the given root, with `/`; `size` is in bytes."""

    path: Path
    name: str
    kind: FileKind
    size: int

    @property
    def resource(self) -> str:
        """The name as it is stored: what the file's rows are made from, and what their keys begin with."""
        return stem(self.name)

    @property
    def key_prefix(self) -> str:
        """Every key that a document or a chat makes starts so."""
        return f"{self.resource}#"


@dataclass(frozen=True, slots=True)
class Row:
    """One memory. `at` is its line number or `messages[3]`; `offset` is how many bytes of the file are read by then."""

    file: str
    at: str
    fields: Mapping[str, object]
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """What was not read, and why. `skipped` was left out on purpose, `failed` is broken."""

    file: str
    at: str
    reason: str
    severity: Severity = "failed"

    def __str__(self) -> str:
        place = f"{self.file}:{self.at}" if self.at else self.file
        return f"{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Largest file that is read whole, and longest line of a JSONL file, in bytes; how deep a row may be nested."""

    file_bytes: int = 20_000_000
    line_bytes: int = 4_000_000
    nesting: int = 30
