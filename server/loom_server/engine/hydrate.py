"""The second round of a search: the pool's committed rows, and the cosines that no leg brought.

    face     agent, user, session, run, key, version, text, type, tags, category, entities, confidence,
             source class, source id, sensitivity, created, valid from, valid to, expires

Hydration takes the ids that the legs found and returns only what `memory` holds: a projection whose
write was never committed has no row here and so does not exist. It reads the one column `face`, which
the engine keeps of what never changes (migration 0003), beside the three that do: some two hundred rows lie
scattered over the table, and each column read costs a block a row. Among 100,000 rows that is 25 ms, and
the columns one by one were 85.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import orjson

from loom_server.legs.fact import COSINE
from loom_server.model.deadline import Deadline
from loom_server.model.memory import Memory
from loom_server.model.scope import Identity, Scope
from loom_server.store.kept import KeptRows
from loom_server.store.statement import Template
from loom_server.store.store import Store

EXCERPT_CHARS = 1_200
"""Characters of a text that a search shows; a face holds one more, which tells that a text goes on."""

NOTHING_KEPT = KeptRows(0)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_HYDRATE = Template(
    "search.hydrate",
    """
SELECT id, status, superseded_by, superseded_at, face
FROM loom.memory
PREWHERE /*scope*/ AND id IN {ids:Array(UInt64)}
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
        rows = store.query(_HYDRATE.bind(scope, {"ids": missing}), deadline).rows()
        read = [_memory(scope, *cast("tuple[Any, ...]", row)) for row in rows]
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


def _memory(scope: Scope, row_id: int, status: Any, superseded_by: int, superseded_at: Any, face: str) -> Memory:
    # Hundreds a search: positional, and no cast a field.
    told: list[Any] = orjson.loads(face)
    agent, user_id, session_id, run_id, key, version, text, kind, tags, category, entities, *rest = told
    confidence, source_class, source_id, sensitivity, created, valid_at, valid_to, expires = rest
    return Memory(
        id=row_id,
        identity=Identity(scope.org, scope.namespace, agent, user_id, session_id, run_id),
        memory_key=key,
        version=version,
        status=status,
        value="",
        content=text,
        content_sha256="",
        memory_type=kind,
        tags=tuple(tags),
        category=category,
        entities=tuple(entities),
        confidence=confidence,
        source_class=source_class,
        source_resource_id=source_id,
        sensitivity=sensitivity,
        created_at=_moment(created),
        valid_at=_moment(valid_at),
        valid_to=_moment(valid_to),
        expires_at=_moment(expires),
        superseded_by=superseded_by,
        superseded_at=superseded_at,
    )


def _moment(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else _EPOCH + timedelta(milliseconds=milliseconds)
