"""Admission: beyond its bound a call is refused at once, whatever its door, and the service still tells how it is.

The services are real and so is the store; a gate in front of it holds searches, or the commits of writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from doors import ADDRESS, MINIMAL
from gated import GatedStore
from loom_client import wire
from loom_server.api.app import create_app
from loom_server.embed.choose import make_embedder
from loom_server.observe.metrics import Metrics
from loom_server.service.open import assemble
from loom_server.service.services import Services
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore

BOUNDS = {"reads_at_once": 2, "reads_waiting": 3, "writes_at_once": 2, "writes_waiting": 1}
READS, WRITES = 5, 3


@dataclass
class Busy:
    """A client, the gate that its calls wait at, and the calls that were sent and are not answered."""

    app: FastAPI
    client: TestClient
    store: GatedStore
    executor: ThreadPoolExecutor
    org: str

    def sample(self, name: str, lane: str) -> float:
        """One number of the metrics."""
        for line in self.client.get("/metrics").text.splitlines():
            if line.startswith(f'loom_requests_{name}{{lane="{lane}"}}'):
                return float(line.rpartition(" ")[2])
        return 0.0

    def fill(self, lane: str, calls: int, send: Callable[[int], Any]) -> list[Future[Any]]:
        """Send calls until as many are inside."""
        sent = [self.executor.submit(send, number) for number in range(calls)]
        while self.sample("running", lane) + self.sample("waiting", lane) < calls:
            assert not any(one.done() for one in sent)
        return sent

    def search(self, number: int = 0) -> Any:
        return self.client.post("/v1/memory.search", json={"org": self.org, "query": f"what is {number}"})

    def write(self, number: int = 0) -> Any:
        return self.client.post(
            "/v1/memory.set", json={"org": self.org, "memory_key": f"k{number}", "value": f"v{number}"}
        )


@contextmanager
def opened(store: EmbeddedStore, org: str, held: tuple[str, ...]) -> Iterator[Busy]:
    """Doors with small bounds over services whose store waits at a gate."""
    settings, metrics, gated = Settings(**BOUNDS), Metrics(), GatedStore(store, held)  # type: ignore[arg-type]
    services: Services = assemble(gated, make_embedder(settings, metrics), settings, metrics=metrics)
    app = create_app(lambda: services, settings, metrics=metrics)
    try:
        with TestClient(app, ADDRESS) as client, ThreadPoolExecutor(20) as executor:
            try:
                yield Busy(app, client, gated, executor, org)
            finally:
                gated.gate.set()
    finally:
        services.writer.close()
        services.searcher.executor.shutdown()


@pytest.fixture
def busy_reads(store: EmbeddedStore, org: str) -> Iterator[tuple[Busy, list[Future[Any]]]]:
    """A service in which two searches run and three wait."""
    with opened(store, org, ("leg.",)) as busy:
        busy.store.gate.set()
        assert busy.write().status_code == 200
        busy.store.gate.clear()
        yield busy, busy.fill("read", READS, busy.search)


def test_what_fits_is_served_and_one_more_is_refused(busy_reads: tuple[Busy, list[Future[Any]]]) -> None:
    busy, sent = busy_reads
    refused = busy.search()
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
    detail = refused.json()["detail"]
    assert (detail["code"], detail["retryable"], detail["retry_after_s"]) == ("rate_limited", True, 1.0)
    assert "2 calls of the kind 'read' run and 3 wait" in detail["message"]
    assert (busy.sample("running", "read"), busy.sample("waiting", "read")) == (2, 3)
    assert busy.sample("turned_away_total", "read") == 1
    busy.store.gate.set()
    assert [one.result(60).status_code for one in sent] == [200] * READS
    assert busy.search().status_code == 200
    assert (busy.sample("running", "read"), busy.sample("waiting", "read")) == (0, 0)


@pytest.mark.parametrize("name", [name for name, one in wire.CONTRACTS.items() if one.access == "read"])
def test_every_read_shares_the_bound_but_what_tells_of_the_service(
    busy_reads: tuple[Busy, list[Future[Any]]], name: str
) -> None:
    busy, _ = busy_reads
    answer = busy.client.post(f"/v1/{name}", json=MINIMAL[name])
    assert answer.status_code == (200 if name.startswith("ops.") else 429)


def test_health_metrics_and_writes_answer_while_reads_are_full(
    busy_reads: tuple[Busy, list[Future[Any]]],
) -> None:
    busy, _ = busy_reads
    for path in ("/health/live", "/health/ready", "/v1/health", "/metrics"):
        assert busy.client.get(path).status_code == 200
    called = busy.client.post("/rpc", json={"jsonrpc": "2.0", "id": 1, "method": "ops.capabilities"})
    assert called.json()["result"]["operations"]
    assert busy.write(7).status_code == 200


def test_json_rpc_is_refused_with_its_own_code(busy_reads: tuple[Busy, list[Future[Any]]]) -> None:
    busy, _ = busy_reads
    call = {"jsonrpc": "2.0", "id": 1, "method": "memory.search", "params": {"org": busy.org, "query": "q"}}
    answer = busy.client.post("/rpc", json=call)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (200, -32005)
    assert (error["data"]["code"], error["data"]["retry_after_s"]) == ("rate_limited", 1.0)


def test_a_refused_body_is_not_read(busy_reads: tuple[Busy, list[Future[Any]]]) -> None:
    busy, _ = busy_reads
    statuses: list[int] = []

    async def receive() -> Any:
        raise AssertionError("the body was asked for")

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/v1/memory.search", "query_string": b"", "headers": headers}
    asyncio.run(busy.app({**scope, "http_version": "1.1", "scheme": "http", "root_path": ""}, receive, send))
    assert statuses == [429]


def test_a_batch_takes_a_place_for_each_of_its_calls(store: EmbeddedStore, org: str) -> None:
    with opened(store, org, ("leg.",)) as busy:
        params = {"org": org, "query": "q"}
        batch = [{"jsonrpc": "2.0", "id": n, "method": "memory.search", "params": params} for n in range(READS + 3)]
        sent = busy.executor.submit(busy.client.post, "/rpc", json=batch)
        while busy.sample("turned_away_total", "read") < 3:
            assert not sent.done()
        assert busy.search().status_code == 429
        busy.store.gate.set()
        answers = sent.result(60).json()
        assert [answer["id"] for answer in answers if "result" in answer] == list(range(READS))
        assert [answer["error"]["code"] for answer in answers[READS:]] == [-32005] * 3


def test_writes_have_a_bound_of_their_own(store: EmbeddedStore, org: str) -> None:
    with opened(store, org, ("insert.memory",)) as busy:
        sent = busy.fill("write", WRITES, busy.write)
        refused = busy.write(9)
        assert (refused.status_code, refused.json()["detail"]["code"]) == (429, "rate_limited")
        assert busy.client.get("/health/ready").status_code == 200
        assert busy.client.post("/v1/memory.get", json={"org": org, "memory_key": "k9"}).json() == {"found": False}
        busy.store.gate.set()
        assert [one.result(60).json()["version"] for one in sent] == [1] * WRITES
        assert busy.client.post("/v1/memory.get", json={"org": org, "memory_key": "k9"}).json() == {"found": False}
        assert busy.write(9).status_code == 200
