"""Memories as rows of the table: the columns read, and how a row becomes a `Memory`.

Hydration takes the ids that the legs found and returns only what `memory` holds: a
projection whose write was never committed has no row here and so does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from loom_server.legs.fact import COSINE
from loom_server.model.deadline import Deadline
from loom_server.model.memory import Memory
from loom_server.model.scope import Identity, Scope
from loom_server.store.kept import KeptRows
from loom_server.store.statement import Template
from loom_server.store.store import Columns, Store

COLUMNS = (
    "id, org, namespace, agent, user_id, session_id, run_id, memory_key, version, status, content,"
    " memory_type, tags, category, entities, confidence, source_class, source_resource_id, sensitivity,"
    " created_at, valid_at, valid_to, expires_at, superseded_by, superseded_at,"
    " value, content_sha256, canonical, summary, metadata, source_trace"
)
"""A whole memory. The last six are what no search asks for."""

EXCERPT_CHARS = 1_200
_SEARCHED = COLUMNS[: COLUMNS.index(", value,")].replace(
    " content,", f" leftUTF8(content, {EXCERPT_CHARS + 1}) AS content,"
)
"""A memory as a search sees it: its text only as far as an excerpt shows it, and one character more."""

NOTHING_KEPT = KeptRows(0)

WHOLE = 25
"""Columns of a memory that a search asks for."""

_HYDRATE = Template(
    "search.hydrate",
    f"""
SELECT {_SEARCHED}
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


def hydrate(
    store: Store, scope: Scope, ids: Sequence[int], deadline: Deadline, kept: KeptRows = NOTHING_KEPT
) -> dict[int, Memory]:
    """The committed rows among `ids`, without their values and with their texts cut."""
    moment = kept.moment
    found = kept.look_up(scope, ids)
    missing = [row_id for row_id in ids if row_id not in found]
    if missing:
        read = tuple(memories(store.query(_HYDRATE.bind(scope, {"ids": missing}), deadline)))
        kept.keep(read, moment)
        found.update((memory.id, memory) for memory in read)
    return found


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
    """Rows of a statement that selected `COLUMNS`, or all of them but the last six."""
    return map(_memory, zip(*found.data, strict=True))


def _memory(row: tuple[Any, ...]) -> Memory:
    # Hundreds a search: positional, and no cast a field.
    whole = len(row) > WHOLE
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
        value=row[25] if whole else "",
        content_sha256=_text(row[26]) if whole else "",
        canonical=row[27] if whole else None,
        summary=row[28] if whole else None,
        metadata=row[29] if whole else "{}",
        source_trace=row[30] if whole else "",
    )


def _text(value: bytes | str) -> str:
    return value.decode("ascii") if isinstance(value, bytes) else value
