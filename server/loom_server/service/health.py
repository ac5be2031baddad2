"""Health by trying: the store answers a statement, the schema is current, the embedder embeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import loom_schema
from loom_client import wire
from loom_server import __version__
from loom_server.embed.base import Embedder, Probed
from loom_server.errors import LoomError
from loom_server.model.deadline import Deadline
from loom_server.store.store import Statement, Store

PROBE = "is this service well"
_SCHEMA = "SELECT max(version) AS version FROM loom.schema_migrations"


def health_of(store: Store, embedder: Embedder, uptime_s: float, deadline: Deadline) -> wire.OpsHealthResponse:
    """The worst of the checks decides; a failing embedder leaves the words, so it only degrades."""
    schema = 0

    def check_store() -> str:
        store.query(Statement("health.store", "SELECT 1"), deadline)
        return "answers statements"

    def check_schema() -> str:
        nonlocal schema
        schema = cast(int, store.query(Statement("health.schema", _SCHEMA), deadline).column("version")[0])
        newest = max(migration.version for migration in loom_schema.load())
        if schema != newest:
            raise LoomError(f"at {schema}, this service is made for {newest}; run loom migrate")
        return f"at {schema}"

    def check_embedder() -> str:
        if isinstance(embedder, Probed):
            embedder.probe(deadline)
        else:
            embedder.query(PROBE, deadline=deadline)
        return embedder.identity.name

    checks = (_check("store", check_store), _check("schema", check_schema), _check("embedder", check_embedder))
    failed = {check.name for check in checks if not check.ok}
    return wire.OpsHealthResponse(
        status="ok" if not failed else "degraded" if failed == {"embedder"} else "failed",
        version=__version__,
        schema_version=schema,
        embedding_model=embedder.identity.name,
        uptime_s=round(uptime_s, 3),
        checks=checks,
        stale_rows=None,
        reembedding="idle",
    )


def _check(name: str, run: Callable[[], str]) -> wire.HealthCheck:
    try:
        return wire.HealthCheck(name=name, ok=True, detail=run())
    except LoomError as error:
        return wire.HealthCheck(name=name, ok=False, detail=error.message)
