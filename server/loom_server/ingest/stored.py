"""What the writer reads before it commits: the newest versions of its keys, and what retiring ones count.

The counts of a row that retires are read from its stored postings rather than made again from its
text, so that the roll-ups stay equal to the postings whatever the language or the analyzer was.
The embedder's tokens are stored nowhere and are made again, for the rows that have a vector of the
live model.

No column that is ever updated is read (`status`, `live`): the engine would apply every pending update,
which doubles the time. The newest version of a key is live or a tombstone, told by its hash, and a row
that retires was live until now. Every version of a key is read, 2 µs each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from operator import itemgetter
from typing import cast

from loom_server.ingest.judge import NO_VALUE, Stored
from loom_server.ingest.projections import EVERY_ROW
from loom_server.model.memory import Key
from loom_server.store.named import NamedTemplate, Row, parts_of
from loom_server.store.statistics import FACT, CommitDelta
from loom_server.store.store import Columns, Store

_NEWEST = NamedTemplate(
    "write.newest",
    """
    SELECT org, namespace, agent, user_id, session_id, memory_key, version, id, toString(content_sha256)
    FROM loom.memory
    PREWHERE /*keys*/
    """,
)
_TRAITS = NamedTemplate(
    "write.traits",
    """
    SELECT id, run_id, content, memory_type, canonical, summary, metadata, tags, category, entities, confidence,
        source_class, source_trace, source_resource_id, sensitivity, valid_at, valid_to, expires_at
    FROM loom.memory
    PREWHERE /*keys*/ AND id IN {ids:Array(UInt64)}
    """,
)
_COUNTED = NamedTemplate(
    "write.counted",
    """
    SELECT org, namespace, token, toInt64(count()) AS df, toInt64(sum(tf)) AS cf, toInt64(sum(dl)) AS length
    FROM loom.postings
    PREWHERE /*rows*/ AND plane = 'fact'
    GROUP BY org, namespace, token
    """,
)
_EMBEDDED = NamedTemplate(
    "write.embedded",
    """
    SELECT org, namespace, content
    FROM loom.memory
    PREWHERE /*keys*/ AND id IN {ids:Array(UInt64)} AND id IN (
        SELECT id FROM loom.memory_embeddings PREWHERE /*rows*/ AND model = {model:String}
    )
    """,
)
_COMMITTED = NamedTemplate(
    "write.committed", "SELECT id FROM loom.memory PREWHERE /*keys*/ AND id IN {ids:Array(UInt64)}"
)


def newest(store: Store, keys: Collection[Key]) -> dict[Key, Stored]:
    """The newest version of each key that has one, without its traits."""
    found: dict[Key, Stored] = {}
    rows = (row for part in parts_of(list(keys), _itself) for row in store.query(_NEWEST.keys(part)).rows())
    for row in rows:
        key = Key(*cast("tuple[str, str, str, str, str, str]", row[:6]))
        version, row_id, sha256 = cast("tuple[int, int, str]", row[6:])
        if key not in found or found[key].version < version:
            found[key] = Stored(row_id, version, "tombstoned" if sha256 == NO_VALUE else "live", sha256)
    return {key: found[key] for key in keys if key in found}


def with_traits(store: Store, found: Mapping[Key, Stored]) -> dict[Key, Stored]:
    """The same versions with what a write of the same value is compared with."""
    rows = (
        row
        for part in parts_of(list(found), _itself)
        for row in store.query(_TRAITS.keys(part, {"ids": [found[key].id for key in part]})).rows()
    )
    traits = {row[0]: (*map(_whole, row[1:15]), *map(_in_utc, row[15:])) for row in rows}
    return {key: replace(one, traits=traits.get(one.id)) for key, one in found.items()}


def counted(store: Store, rows: Collection[Row]) -> list[CommitDelta]:
    """What rows count in the fact plane, summed by namespace."""
    by_namespace: defaultdict[tuple[str, str], list[tuple[str, int, int, int]]] = defaultdict(list)
    for org, namespace, *counts in store.query(_COUNTED.rows(rows)).rows():
        by_namespace[cast(str, org), cast(str, namespace)].append(cast("tuple[str, int, int, int]", tuple(counts)))
    return [_fact_delta(*key, tokens) for key, tokens in by_namespace.items()]


def embedded(store: Store, versions: Collection[tuple[Key, int]], model: str) -> list[tuple[str, str, str]]:
    """Org, namespace and content of those versions (key and id) that have a vector of the model."""
    found: list[tuple[str, str, str]] = []
    for part in parts_of(list(versions), itemgetter(0)):
        rows = [Row(key.org, key.namespace, one) for key, one in part]
        parameters = {"model": model, "ids": [one for _, one in part]}
        statement = _EMBEDDED.both({key for key, _ in part}, rows, parameters)
        found += cast("list[tuple[str, str, str]]", store.query(statement).rows())
    return found


def committed(store: Store, keys: Collection[Key], ids: Sequence[int]) -> set[int]:
    """The ids, of versions of these keys, that `memory` holds."""
    parts = parts_of(list(keys), _itself)
    return {one for part in parts for one in _ids(store.query(_COMMITTED.keys(part, {"ids": list(ids)})))}


def _fact_delta(org: str, namespace: str, tokens: Sequence[tuple[str, int, int, int]]) -> CommitDelta:
    docs, length = next(((df, dl) for token, df, _, dl in tokens if token == EVERY_ROW), (0, 0))
    df = {token: df for token, df, _, _ in tokens if token != EVERY_ROW}
    cf = {token: cf for token, _, cf, _ in tokens if token != EVERY_ROW}
    return CommitDelta(org, namespace, FACT, docs, length, df, cf)


def _itself(key: Key) -> Key:
    return key


def _ids(found: Columns) -> list[int]:
    return cast("list[int]", list(found.column("id")))


def _whole(value: object) -> object:
    return tuple(cast("list[str]", value)) if isinstance(value, list) else value


def _in_utc(value: object) -> object:
    """The driver hands UTC columns out without a zone."""
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value
