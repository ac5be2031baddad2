"""Memories as rows of the table: the columns read, and how a row becomes a `Memory`.

Hydration takes the ids that the legs found and returns only what `memory` holds: a
projection whose write was never committed has no row here and so does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import cast

from loom_server.legs.fact import COSINE
from loom_server.model.deadline import Deadline
from loom_server.model.memory import Memory, Status
from loom_server.model.scope import Identity, Scope
from loom_server.store.statement import Template
from loom_server.store.store import Columns, Store

COLUMNS = (
    "id, org, namespace, agent, user_id, session_id, run_id, memory_key, version, status, value, content,"
    " content_sha256, memory_type, canonical, summary, metadata, tags, category, entities, confidence,"
    " source_class, source_trace, source_resource_id, sensitivity, created_at, valid_at, valid_to, expires_at,"
    " superseded_by, superseded_at"
)

_HYDRATE = Template(
    "search.hydrate",
    f"""
SELECT {COLUMNS}
FROM loom.memory
PREWHERE /*scope*/ AND id IN {{ids:Array(UInt64)}}
""",
)

_COSINES = Template(
    "search.cosines",
    f"""
SELECT id, {COSINE} AS similarity
FROM loom.memory_embeddings
PREWHERE /*scope*/ AND model = {{model:String}} AND id IN {{ids:Array(UInt64)}}
""",
)

_STALE = Template(
    "search.stale",
    """
SELECT count() AS total
FROM loom.memory_embeddings
PREWHERE /*scope*/ AND model != {model:String} AND live = 1
""",
)


def hydrate(store: Store, scope: Scope, ids: Sequence[int], deadline: Deadline) -> dict[int, Memory]:
    """The committed rows among `ids`."""
    found = store.query(_HYDRATE.bind(scope, {"ids": list(ids)}), deadline)
    return {memory.id: memory for memory in memories(found)}


def cosines(
    store: Store, scope: Scope, ids: Sequence[int], vector_hex: str, model: str, deadline: Deadline
) -> dict[int, float]:
    """The cosine of each of `ids` that has a vector of the live model."""
    parameters = {"ids": list(ids), "query_vector": vector_hex, "model": model}
    found = store.query(_COSINES.bind(scope, parameters), deadline)
    return dict(
        zip(cast("list[int]", found.column("id")), cast("list[float]", found.column("similarity")), strict=True)
    )


def stale_vectors(store: Store, scope: Scope, model: str, deadline: Deadline) -> int:
    """How many live rows of the scope have a vector of another model."""
    found = store.query(_STALE.bind(scope, {"model": model}), deadline)
    return cast(int, found.column("total")[0])


def memories(found: Columns) -> Iterable[Memory]:
    """Rows of a statement that selected `COLUMNS`."""
    return map(_memory, zip(*found.data, strict=True))


def _memory(row: tuple[object, ...]) -> Memory:
    return Memory(
        id=cast(int, row[0]),
        identity=Identity(*cast("tuple[str, ...]", row[1:7])),
        memory_key=cast(str, row[7]),
        version=cast(int, row[8]),
        status=cast(Status, row[9]),
        value=cast(str, row[10]),
        content=cast(str, row[11]),
        content_sha256=_text(row[12]),
        memory_type=cast(str, row[13]),
        canonical=cast("str | None", row[14]),
        summary=cast("str | None", row[15]),
        metadata=cast(str, row[16]),
        tags=tuple(cast("Sequence[str]", row[17])),
        category=cast(str, row[18]),
        entities=tuple(cast("Sequence[str]", row[19])),
        confidence=cast(float, row[20]),
        source_class=cast(str, row[21]),
        source_trace=cast(str, row[22]),
        source_resource_id=cast(str, row[23]),
        sensitivity=cast(str, row[24]),
        created_at=_moment(row[25]),
        valid_at=_moment(row[26]),
        valid_to=_moment(row[27]),
        expires_at=_moment(row[28]),
        superseded_by=cast(int, row[29]),
        superseded_at=_moment(row[30]),
    )


def _moment(value: object) -> datetime | None:
    """The driver hands UTC columns out without a zone."""
    moment = cast("datetime | None", value)
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


def _text(value: object) -> str:
    return value.decode("ascii") if isinstance(value, bytes) else cast(str, value)
