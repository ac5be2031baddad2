"""Which rows have no vector of the live model, over all tenants, and whose vectors are of another one.

    lacking = versions whose text holds a letter or a digit, tombstones apart, without a vector of the model

A text without either may have no vector at all (`hash`), so it is left out here, though a re-embedding tries it.

These statements read every tenant's rows on purpose and answer with names and numbers alone. Ids are compared in passes
of at most `PASS_ROWS` versions, so that memory is bounded whatever the table holds.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import cast

from loom_server.keep.evidence import PASS_ROWS
from loom_server.model.deadline import Deadline
from loom_server.store.namespaces import MOVING, ORG_ROW
from loom_server.store.store import Statement, Store

_VERSIONS = Statement("lacking.versions", "SELECT count() AS versions FROM loom.memory")
_ROWS = """
SELECT org, count() AS rows, sum(lengthUTF8(content)) AS characters
FROM loom.memory
WHERE status != 'tombstoned' AND id % {passes:UInt64} = {number:UInt64}
    AND ({org:String} = '' OR org = {org:String})
    AND id NOT IN
    (
        SELECT id FROM loom.memory_embeddings
        WHERE model = {model:String} AND id % {passes:UInt64} = {number:UInt64}
            AND ({org:String} = '' OR org = {org:String})
    )
    AND match(content, '[\\\\p{L}\\\\p{N}_]')
GROUP BY org
"""
_MODELS = """
SELECT org, argMax(embedding_model, version) AS model,
    JSONExtractBool(argMax(preferences, version), {moving:String}) AS moving
FROM loom.namespaces
WHERE namespace = {org_row:String} AND ({org:String} = '' OR org = {org:String})
GROUP BY org
"""
_NAMESPACES = "SELECT namespace FROM loom.memory WHERE org = {org:String} GROUP BY namespace ORDER BY namespace"


@dataclass(frozen=True, slots=True)
class Lacking:
    """Orgs that need a re-embedding into the model, and how much there is to embed."""

    orgs: tuple[str, ...] = ()
    rows: int = 0
    characters: int = 0


def lacking(store: Store, model: str, org: str | None = None, deadline: Deadline | None = None) -> Lacking:
    """All orgs, or the one. Raises what `Store.query` raises."""
    number = cast(int, store.query(_VERSIONS, deadline).column("versions")[0])
    passes = 1 + number // PASS_ROWS
    given = {"model": model, "org": org or "", "passes": passes}
    found: defaultdict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for one in range(passes):
        statement = Statement("lacking.rows", _ROWS, {**given, "number": one})
        for name, rows, characters in cast("list[tuple[str, int, int]]", store.query(statement, deadline).rows()):
            before = found[name]
            found[name] = (before[0] + rows, before[1] + characters)
    unfinished = _unfinished(store, model, org, deadline)
    return Lacking(
        tuple(sorted(found.keys() | unfinished)),
        sum(rows for rows, _ in found.values()),
        sum(characters for _, characters in found.values()),
    )


def namespaces_of(store: Store, org: str, deadline: Deadline | None = None) -> list[str]:
    """The org's namespaces that have rows."""
    found = store.query(Statement("lacking.namespaces", _NAMESPACES, {"org": org}), deadline)
    return [str(name) for name in found.column("namespace")]


def _unfinished(store: Store, model: str, org: str | None, deadline: Deadline | None) -> set[str]:
    """Orgs that are held to another model, or whose move is not over."""
    parameters = {"moving": MOVING, "org_row": ORG_ROW, "org": org or ""}
    rows = store.query(Statement("lacking.models", _MODELS, parameters), deadline).rows()
    return {str(name) for name, held, moving in rows if moving or held not in ("", model)}
