"""The vectors of one model in one namespace, as a change of the model needs them.

    missing     ids of versions, tombstones apart, that have no vector of the model
    passages    the versions behind ids, less those that have a vector by now
    insert      vectors under the ids of their versions, with the flag that these had when they were read
    lower_ended live = 0 on vectors whose version is not live, among ids or all of the namespace
    drop_others vectors of every other model go

A version is seen in `memory` only after its own vector is in, so one that is read first and asked for its vector
afterwards is never given a second one. Each of these may be done again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from loom_server.model.deadline import Deadline
from loom_server.model.scope import Scope
from loom_server.store.statement import Template
from loom_server.store.store import Insert, Store

Ids = NDArray[np.uint64]

_MISSING = Template(
    "vectors.missing",
    """
    SELECT id
    FROM loom.memory
    WHERE /*scope*/ AND status != 'tombstoned'
        AND id NOT IN (SELECT id FROM loom.memory_embeddings WHERE /*scope*/ AND model = {model:String})
    ORDER BY id
    """,
)
_PASSAGES = Template(
    "vectors.passages",
    """
    SELECT id, agent, user_id, session_id, run_id, memory_key, status = 'live' AS live, content
    FROM loom.memory
    WHERE /*scope*/ AND id IN {ids:Array(UInt64)}
    ORDER BY id
    """,
)
_PRESENT = Template(
    "vectors.present",
    """
    SELECT id
    FROM loom.memory_embeddings
    WHERE /*scope*/ AND model = {model:String} AND id IN {ids:Array(UInt64)}
    """,
)
_LIVE_AMONG = Template(
    "vectors.live_among",
    "SELECT id FROM loom.memory WHERE /*scope*/ AND status = 'live' AND id IN {ids:Array(UInt64)}",
)
_RAISED = Template(
    "vectors.raised",
    """
    SELECT id
    FROM loom.memory_embeddings
    WHERE /*scope*/ AND model = {model:String} AND live = 1
        AND id NOT IN (SELECT id FROM loom.memory WHERE /*scope*/ AND status = 'live')
    """,
)
_LOWER = Template(
    "vectors.lower",
    """
    UPDATE loom.memory_embeddings SET live = 0
    WHERE /*scope*/ AND model = {model:String} AND id IN {ids:Array(UInt64)}
    """,
)
_OTHERS = Template(
    "vectors.others",
    "SELECT count() AS rows FROM loom.memory_embeddings WHERE /*scope*/ AND model != {model:String}",
)
_DROP_OTHERS = Template(
    "vectors.drop_others", "DELETE FROM loom.memory_embeddings WHERE /*scope*/ AND model != {model:String}"
)
_PATCHED = {"lightweight_delete_mode": "lightweight_update"}
"""The engine's default way of deleting rewrites whole parts, those of other tenants too."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A version as far as its vector needs it."""

    id: int
    agent: str
    user_id: str
    session_id: str
    run_id: str
    memory_key: str
    live: bool
    content: str


def missing(store: Store, scope: Scope, model: str, deadline: Deadline | None = None) -> Ids:
    """Ids of the versions without a vector of the model, rising."""
    found = store.query(_MISSING.bind(scope, {"model": model}), deadline)
    return np.array(found.column("id"), dtype=np.uint64)


def passages(
    store: Store, scope: Scope, model: str, ids: Sequence[int], deadline: Deadline | None = None
) -> list[Passage]:
    """The versions behind the ids that still have no vector of the model."""
    rows = store.query(_PASSAGES.bind(scope, {"ids": list(ids)}), deadline).rows()
    read = [_passage(*cast("tuple[Any, ...]", row)) for row in rows]
    present = set(store.query(_PRESENT.bind(scope, {"ids": list(ids), "model": model}), deadline).column("id"))
    return [one for one in read if one.id not in present]


def insert(store: Store, scope: Scope, model: str, holders: Sequence[Passage], made: NDArray[np.float32]) -> None:
    """A vector for each version; `made` has a unit row for each."""
    number = len(holders)
    names = ("id", "agent", "user_id", "session_id", "run_id", "memory_key")
    columns = ("org", "namespace", "model", *names, "live", "vector")
    own = ([getattr(one, name) for one in holders] for name in names)
    data = ([scope.org] * number, [scope.namespace] * number, [model] * number, *own)
    store.insert(Insert("memory_embeddings", columns, (*data, [int(one.live) for one in holders], made)))


def lower_ended(
    store: Store, scope: Scope, model: str, ids: Sequence[int] | None = None, deadline: Deadline | None = None
) -> int:
    """Lower the vectors, among those of `ids` or all, whose version is not live; how many there were."""
    if ids is None:
        raised = store.query(_RAISED.bind(scope, {"model": model}), deadline).column("id")
        ended = list(cast("Sequence[int]", raised))
    else:
        live = set(store.query(_LIVE_AMONG.bind(scope, {"ids": list(ids)}), deadline).column("id"))
        ended = [one for one in ids if one not in live]
    if ended:
        store.command(_LOWER.bind(scope, {"model": model, "ids": ended}))
    return len(ended)


def drop_others(store: Store, scope: Scope, model: str, deadline: Deadline | None = None) -> int:
    """Delete the vectors of every model but this one; how many there were."""
    number = cast(int, store.query(_OTHERS.bind(scope, {"model": model}), deadline).column("rows")[0])
    if number:
        store.command(_DROP_OTHERS.bind(scope, {"model": model}, settings=_PATCHED))
    return number


def without(ids: Ids, known: Collection[int]) -> list[int]:
    """The ids that are not among `known`, as plain numbers."""
    return [one for one in ids.tolist() if one not in known]


def _passage(row_id: int, agent: str, user_id: str, session_id: str, run_id: str, *rest: Any) -> Passage:
    key, live, content = rest
    return Passage(row_id, agent, user_id, session_id, run_id, key, bool(live), content)
