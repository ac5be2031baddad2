"""Doors in process: requests that are valid, faults to order, and calls on both doors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fastapi.testclient import TestClient

from loom_client import wire
from loom_server.api.app import create_app
from loom_server.model.deadline import Deadline
from loom_server.settings import Settings

ADDRESS = "http://127.0.0.1:7777"
JSON = {"content-type": "application/json"}
DETAIL = {"code", "message", "category", "retryable", "retry_after_s", "errors", "request_id"}

MINIMAL: dict[str, dict[str, Any]] = {
    "memory.set": {"memory_key": "k", "value": "v"},
    "memory.set_many": {"items": [{"memory_key": "k", "value": "v"}]},
    "memory.get": {"memory_key": "k"},
    "memory.list": {},
    "memory.update": {"memory_key": "k", "value": "v"},
    "memory.delete": {"memory_key": "k"},
    "memory.history": {"memory_key": "k"},
    "memory.search": {"query": "where is it"},
    "namespace.get": {},
    "namespace.set": {"retrieval_defaults": {"top_k": 5}},
    "ops.health": {},
    "ops.capabilities": {},
    "ops.reembed": {},
}
"""The smallest valid request of each operation."""

HEALTHY = wire.OpsHealthResponse(
    status="ok",
    version="1",
    schema_version=1,
    embedding_model="m",
    uptime_s=1.0,
    checks=(),
    stale_rows=0,
    reembedding="idle",
)

Behaviour = Callable[[Any, Deadline], wire.Answer]


class StandIn:
    """Services whose every operation does the same; for faults that real services do not make to order."""

    def __init__(self, behave: Behaviour) -> None:
        self.behave = behave

    def __getattr__(self, name: str) -> Behaviour:
        return self.behave


def raising(error: Exception) -> StandIn:
    """Services that fail with `error`."""

    def behave(request: Any, deadline: Deadline) -> wire.Answer:
        raise error

    return StandIn(behave)


@contextmanager
def client_of(services: Any, **settings: Any) -> Iterator[TestClient]:
    """A client of an application over `services` (None: still starting)."""
    app = create_app(lambda: services, Settings(**settings))
    with TestClient(app, ADDRESS, raise_server_exceptions=False) as client:
        yield client


@dataclass(frozen=True)
class Outcome:
    """What a door answered: the operation's result, or the members of the error."""

    status: int
    result: Any = None
    error: Any = None
    rpc_code: int | None = None


def by_http(client: TestClient, name: str, body: object) -> Outcome:
    """The call by flat HTTP."""
    answer = client.post(f"/v1/{name}", json=body)
    if answer.status_code == 200:
        return Outcome(200, answer.json())
    return Outcome(answer.status_code, error=answer.json()["detail"])


def by_rpc(client: TestClient, name: str, body: object) -> Outcome:
    """The same call by JSON-RPC."""
    answer = client.post("/rpc", json={"jsonrpc": "2.0", "id": 7, "method": name, "params": body})
    told = answer.json()
    assert told["jsonrpc"] == "2.0"
    assert told["id"] == 7
    if "result" in told:
        return Outcome(answer.status_code, told["result"])
    return Outcome(answer.status_code, error=told["error"]["data"], rpc_code=told["error"]["code"])


DOORS = {"http": by_http, "rpc": by_rpc}
