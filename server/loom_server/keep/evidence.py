"""What is not as a finished write leaves it, found over all tenants.

    orphan    a vector or postings whose id `memory` does not hold: a write that never committed
    raised    a live vector or live postings of a version that is not live
    stale     a live version that is not the newest of its key: a retirement that was cut short
    missing   a live version without live postings

A crash leaves the first three (`ingest/commit.py`); the fourth should not be. Roll-ups that lag give no
sign, but they lag in no other namespaces than those written within `LAG_S` of the last commit (`recent`).

These statements read every tenant's rows on purpose and answer with names of rows alone; nothing of
them goes to a caller. Ids are compared in passes of at most `PASS_ROWS` versions, keys are grouped in
the order of the table, and answers come in pages, so that memory is bounded whatever the table holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from loom_server.model.clock import ids_in
from loom_server.model.memory import Key
from loom_server.store.named import Row
from loom_server.store.rollups import LAG_S
from loom_server.store.store import Statement, Store
from loom_server.store.versions import Ending

PASS_ROWS = 2_000_000
PAGE = 4_000

_INDEXES = ("memory_embeddings WHERE 1", "postings WHERE plane = 'fact' AND token = ''")

_UNKNOWN = """
SELECT DISTINCT org, namespace, id
FROM loom.{index} AND id % {{passes:UInt64}} = {{number:UInt64}}{live}
    AND (org, namespace, id) > ({{org:String}}, {{namespace:String}}, {{id:UInt64}})
    AND id NOT IN (SELECT id FROM loom.memory WHERE id % {{passes:UInt64}} = {{number:UInt64}}{status})
ORDER BY org, namespace, id
LIMIT {{limit:UInt64}}
"""
_ORPHANS = tuple(_UNKNOWN.format(index=index, live="", status="") for index in _INDEXES)
_RAISED = tuple(_UNKNOWN.format(index=index, live=" AND live = 1", status=" AND status = 'live'") for index in _INDEXES)
_MISSING = """
SELECT org, namespace, id
FROM loom.memory
WHERE status = 'live' AND id % {passes:UInt64} = {number:UInt64}
    AND (org, namespace, id) > ({org:String}, {namespace:String}, {id:UInt64})
    AND id NOT IN (
        SELECT id FROM loom.postings
        WHERE plane = 'fact' AND token = '' AND live = 1 AND id % {passes:UInt64} = {number:UInt64}
    )
ORDER BY org, namespace, id
LIMIT {limit:UInt64}
"""
_STALE = """
SELECT org, namespace, agent, user_id, session_id, memory_key,
    argMax(id, (version, id)) AS newest,
    arrayFilter(one -> one != newest, groupArrayIf(id, status = 'live')) AS stale
FROM loom.memory
WHERE (org, namespace, agent, user_id, session_id, memory_key)
    > ({org:String}, {namespace:String}, {agent:String}, {user:String}, {session:String}, {memory_key:String})
GROUP BY org, namespace, agent, user_id, session_id, memory_key
HAVING notEmpty(stale)
ORDER BY org, namespace, agent, user_id, session_id, memory_key
LIMIT {limit:UInt64}
"""
_RECENT = """
SELECT DISTINCT org, namespace
FROM loom.memory
WHERE id + {lag:UInt64} >= (SELECT max(id) FROM loom.memory)
"""
_IN_ORDER = {"optimize_aggregation_in_order": 1}
_VERSIONS = Statement("evidence.versions", "SELECT count() AS versions FROM loom.memory")
_NAMESPACES = Statement(
    "evidence.namespaces",
    """
    SELECT org, namespace FROM loom.memory GROUP BY org, namespace
    UNION DISTINCT
    SELECT org, namespace FROM loom.corpus_stats GROUP BY org, namespace
    """,
)


def orphans(store: Store) -> Iterator[list[Row]]:
    """Rows of the indexes that `memory` does not hold, page by page."""
    for sql in _ORPHANS:
        yield from _pages(store, "evidence.orphans", sql)


def raised(store: Store) -> Iterator[list[Row]]:
    """Live rows of the indexes whose version is not live (orphans, too)."""
    for sql in _RAISED:
        yield from _pages(store, "evidence.raised", sql)


def missing(store: Store) -> Iterator[list[Row]]:
    """Live versions that the lexical index does not hold."""
    yield from _pages(store, "evidence.missing", _MISSING)


def stale(store: Store) -> Iterator[list[Ending]]:
    """Live versions that are not their key's newest, with the newest as what ends them."""
    names = ("org", "namespace", "agent", "user", "session", "memory_key")
    after: tuple[object, ...] = ("",) * len(names)
    while True:
        parameters = {**dict(zip(names, after, strict=True)), "limit": PAGE}
        rows = store.query(Statement("evidence.stale", _STALE, parameters, _IN_ORDER)).rows()
        if rows:
            yield [ending for row in rows for ending in endings_of(row)]
        if len(rows) < PAGE:
            return
        after = rows[-1][: len(names)]


def recent(store: Store) -> list[tuple[str, str]]:
    """Every (org, namespace) whose roll-ups may have lagged when the last commit was made."""
    rows = store.query(Statement("evidence.recent", _RECENT, {"lag": ids_in(LAG_S)})).rows()
    return sorted(cast("list[tuple[str, str]]", rows))


def namespaces(store: Store) -> list[tuple[str, str]]:
    """Every (org, namespace) that has rows or roll-ups."""
    return sorted(cast("list[tuple[str, str]]", store.query(_NAMESPACES).rows()))


def endings_of(row: tuple[object, ...]) -> Iterator[Ending]:
    """The endings in a key's row: its six parts, its newest version, its stale ones."""
    key = Key(*cast("tuple[str, str, str, str, str, str]", row[:6]))
    return (Ending(key, one, cast(int, row[6])) for one in cast("list[int]", row[7]))


def _pages(store: Store, name: str, sql: str) -> Iterator[list[Row]]:
    versions = cast(int, store.query(_VERSIONS).column("versions")[0])
    passes = 1 + versions // PASS_ROWS
    for number in range(passes):
        after = Row("", "", 0)
        while True:
            place = {"org": after.org, "namespace": after.namespace, "id": after.id}
            parameters = {"passes": passes, "number": number, "limit": PAGE, **place}
            rows = [
                Row(*cast("tuple[str, str, int]", row)) for row in store.query(Statement(name, sql, parameters)).rows()
            ]
            if rows:
                yield rows
            if len(rows) < PAGE:
                break
            after = rows[-1]
