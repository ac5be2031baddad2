"""Changing rows that are stored: a version is lowered, then marked superseded; an orphan is dropped.

    lower       live = 0 on the row's vector and postings, so that no leg nominates it
    supersede   status, superseded_by and superseded_at on its row in `memory`
    drop        its vector and postings go: `memory` does not know the row

Superseding comes last: until then the row is a live version that is not its key's newest, which is
how a sweep finds a retirement that was cut short. Each of the three may be done again.

The conditions name rows and nothing that is ever updated: to read `live` or `status`, the engine would
apply every pending update first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import TypeVar

from loom_server.model.memory import Key
from loom_server.store.named import NamedTemplate, Row, parts_of
from loom_server.store.store import Store
from loom_server.store.together import together

T = TypeVar("T")

AT_ONCE = 4_000
"""Rows of one statement."""

_LOWER = (
    NamedTemplate("versions.lower_vectors", "UPDATE loom.memory_embeddings SET live = 0 WHERE /*rows*/"),
    NamedTemplate("versions.lower_postings", "UPDATE loom.postings SET live = 0 WHERE /*rows*/ AND plane = 'fact'"),
)
_SUPERSEDE = NamedTemplate(
    "versions.supersede",
    """
    UPDATE loom.memory
    SET status = 'superseded', superseded_at = {at:DateTime64(3, 'UTC')},
        superseded_by = transform(id, {ids:Array(UInt64)}, {successors:Array(UInt64)}, toUInt64(0))
    WHERE /*keys*/ AND id IN {ids:Array(UInt64)}
    """,
)
# The engine's default way of deleting rewrites whole parts.
_DROP = tuple(
    NamedTemplate(
        f"versions.drop_{table}",
        f"DELETE FROM loom.{table} WHERE /*rows*/",
        {"lightweight_delete_mode": "lightweight_update"},
    )
    for table in ("memory_embeddings", "postings")
)


@dataclass(frozen=True, slots=True)
class Ending:
    """A stored version and the id of the version that ends it."""

    key: Key
    id: int
    successor: int


def lower(store: Store, rows: Sequence[Row], executor: Executor) -> None:
    """Take the rows out of the indexes; searches that include superseded rows still find them."""
    _change(store, _LOWER, rows, executor)


def drop(store: Store, rows: Sequence[Row], executor: Executor) -> None:
    """Remove the projections of rows that `memory` does not hold."""
    _change(store, _DROP, rows, executor)


def supersede(store: Store, endings: Sequence[Ending], at: datetime) -> None:
    """Mark versions, which are live, as ended."""
    for part in (part for some in _parts(endings) for part in parts_of(some, attrgetter("key"))):
        parameters = {
            "ids": [ending.id for ending in part],
            "successors": [ending.successor for ending in part],
            "at": at,
        }
        store.command(_SUPERSEDE.keys([ending.key for ending in part], parameters))


def _change(store: Store, templates: Sequence[NamedTemplate], rows: Sequence[Row], executor: Executor) -> None:
    for part in _parts(rows):
        together(executor, [partial(store.command, template.rows(part)) for template in templates])


def _parts(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE))
