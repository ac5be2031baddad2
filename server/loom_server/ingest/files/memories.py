"""JSONL of memories: one object of `memory.set` fields a line.

The file is streamed, so its size is not bounded, and a line that is no object is named by
its number. Which fields an object may have is the wire model's word, not this reader's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, cast

import orjson

from loom_server.errors import InvalidJson, TooLarge
from loom_server.ingest.files.decode import EMPTY, decode
from loom_server.ingest.files.row import Bounds, Fault, Row, SourceFile
from loom_server.model.strict_json import check_nesting, load


def read_memories(file: SourceFile, bounds: Bounds) -> Iterator[Row | Fault]:
    """A row a line; blank lines are passed over."""
    try:
        with file.path.open("rb") as stream:
            yield from _lines(stream, file, bounds)
    except OSError as error:
        yield Fault(file.name, "", f"cannot be read: {error.strerror}")


def _lines(stream: BinaryIO, file: SourceFile, bounds: Bounds) -> Iterator[Row | Fault]:
    offset = number = 0
    seen = False
    while line := stream.readline(bounds.line_bytes + 1):
        number += 1
        offset += len(line)
        whole = line.endswith(b"\n") or len(line) <= bounds.line_bytes
        if not whole:
            offset += _skip_line(stream, bounds)
            seen = True
            yield Fault(file.name, str(number), f"longer than {bounds.line_bytes:,} bytes")
        elif line.strip():
            seen = True
            yield _row(line, file, (number, offset), bounds)
    if not seen:
        yield Fault(file.name, "", EMPTY, "skipped")


def _skip_line(stream: BinaryIO, bounds: Bounds) -> int:
    skipped = 0
    while part := stream.readline(bounds.line_bytes):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


def _row(line: bytes, file: SourceFile, place: tuple[int, int], bounds: Bounds) -> Row | Fault:
    number, offset = place
    text = decode(line, file.name)
    if isinstance(text, Fault):
        return Fault(file.name, str(number), text.reason)
    try:
        value = load(text)
        check_nesting(value, bounds.nesting)
    except orjson.JSONDecodeError as error:
        return Fault(file.name, str(number), f"not JSON: {error.msg} at column {error.colno}")
    except TooLarge:
        return Fault(file.name, str(number), f"nested deeper than {bounds.nesting} levels")
    except InvalidJson as error:
        return Fault(file.name, str(number), error.message)
    if not isinstance(value, dict):
        return Fault(file.name, str(number), "a memory is an object of memory.set fields")
    return Row(file.name, str(number), cast("dict[str, object]", value), offset)
