"""Whole memories as rows of the table: the columns read, and how a row becomes a `Memory`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loom_server.model.memory import Memory
from loom_server.model.scope import Identity
from loom_server.store.store import Columns

COLUMNS = (
    "id, org, namespace, agent, user_id, session_id, run_id, memory_key, version, status, content,"
    " memory_type, tags, category, entities, confidence, source_class, source_resource_id, sensitivity,"
    " created_at, valid_at, valid_to, expires_at, superseded_by, superseded_at,"
    " value, content_sha256, canonical, summary, metadata, source_trace"
)


def memories(found: Columns) -> Iterable[Memory]:
    """Rows of a statement that selected `COLUMNS`."""
    return map(_memory, zip(*found.data, strict=True))


def _memory(row: tuple[Any, ...]) -> Memory:
    return Memory(
        id=row[0],
        identity=Identity(*row[1:7]),
        memory_key=row[7],
        version=row[8],
        status=row[9],
        content=row[10],
        memory_type=row[11],
        tags=tuple(row[12]),
        category=row[13],
        entities=tuple(row[14]),
        confidence=row[15],
        source_class=row[16],
        source_resource_id=row[17],
        sensitivity=row[18],
        created_at=row[19],
        valid_at=row[20],
        valid_to=row[21],
        expires_at=row[22],
        superseded_by=row[23],
        superseded_at=row[24],
        value=row[25],
        content_sha256=_text(row[26]),
        canonical=row[27],
        summary=row[28],
        metadata=row[29],
        source_trace=row[30],
    )


def _text(value: bytes | str) -> str:
    return value.decode("ascii") if isinstance(value, bytes) else value
