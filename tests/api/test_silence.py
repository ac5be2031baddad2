"""No log line at any level holds what a caller wrote: real services, all ends of a call, both formats."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from doors import DOORS, JSON, client_of, raising
from journal import logging_as
from loom_client import wire
from loom_server.api.app import create_app
from loom_server.errors import Cancelled, LoomError, StatementFailed
from loom_server.model.deadline import Deadline
from loom_server.observe.metrics import Metrics
from loom_server.service.services import Services
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.store import Statement

SECRET = "sk-7f3a9c-s3cret"
KEY = {"authorization": f"Bearer {SECRET}", "x-api-key": SECRET, "cookie": SECRET, **JSON}
HOSTILE = {"org": "acme-corp", "namespace": "layoffs", "user_id": "mara-jones"}


@pytest.fixture(params=["json", "console"])
def log(request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]) -> Iterator[Any]:
    """Log everything there is; answers what was written so far, by any library, to either stream."""
    with logging_as(request.param, "debug"):
        logging.getLogger("loom.store").debug("the log is on")

        def written() -> str:
            told = capfd.readouterr()
            return told.err + told.out

        yield written


@pytest.fixture
def client(services: Services) -> Iterator[TestClient]:
    with client_of(services) as opened:
        yield opened


def assert_silent(text: str) -> None:
    """The text tells of what happened and of nobody."""
    assert text
    for word in (SECRET, *HOSTILE.values(), "s3cret"):
        assert word not in text


def test_calls_that_go_well_tell_nothing_of_what_they_carry(client: TestClient, log: Any, org: str) -> None:
    hostile = {**HOSTILE, "org": f"acme-corp-{org}"}
    set_body = {**hostile, "memory_key": SECRET, "value": {"password": SECRET}, "tags": [SECRET], "summary": SECRET}
    for operation, body in (
        ("memory.set", set_body),
        ("memory.set_many", {**hostile, "items": [{"memory_key": f"{SECRET}/2", "value": SECRET}]}),
        ("memory.update", {**hostile, "memory_key": SECRET, "value": f"{SECRET} again"}),
        ("memory.search", {**hostile, "query": f"what is {SECRET}", "explain": True}),
        ("memory.list", {**hostile, "prefix": SECRET}),
        ("memory.history", {**hostile, "memory_key": SECRET}),
        ("memory.delete", {**hostile, "memory_key": SECRET}),
    ):
        answer = client.post(f"/v1/{operation}", json=body, headers=KEY)
        assert answer.status_code == 200, answer.text
    told = log()
    assert_silent(told)
    assert told.count("memory.set_many") == 1
    assert all(event in told for event in ("search", "write", "memory.delete", "memory.update"))


def test_calls_that_are_refused_tell_nothing_of_what_they_carry(client: TestClient, log: Any) -> None:
    for door in DOORS.values():
        assert door(client, "memory.search", {**HOSTILE, "query": SECRET, SECRET: SECRET}).error
        assert door(client, "memory.search", {**HOSTILE, "query": SECRET * 1000}).error["code"] == "too_large"
        assert door(client, "memory.set", {**HOSTILE, "memory_key": SECRET, "value": SECRET, "tags": SECRET}).error
        assert door(client, f"memory.{SECRET}", {}).error
    for path in ("/rpc", "/v1/memory.set", f"/{SECRET}", f"/v1/{SECRET}?{SECRET}={SECRET}"):
        client.post(path, content=f'{{"{SECRET}', headers=KEY)
        client.post(path, content=SECRET, headers={**KEY, "content-type": SECRET})
        client.post(path, json={}, headers={"host": f"{SECRET}.example"})
    told = log()
    assert_silent(told)
    assert told.count("refused") >= 16


@pytest.mark.parametrize("door", DOORS)
def test_calls_that_fail_tell_nothing_of_what_they_carry(log: Any, door: str) -> None:
    for error in (RuntimeError(SECRET), KeyError(SECRET), StatementFailed(SECRET), LoomError(SECRET)):
        with client_of(raising(error)) as client:
            assert DOORS[door](client, "memory.search", {**HOSTILE, "query": SECRET}).error
    told = log()
    assert_silent(told)
    assert "KeyError" in told


def test_a_statement_that_fails_tells_nothing_of_its_values(store: EmbeddedStore, log: Any) -> None:
    for part in ("toUInt64({x:String})", "{x:UInt64}", "throwIf(1, {x:String})", "{x:String"):
        with pytest.raises(LoomError):
            store.query(Statement("health.store", f"SELECT {part}", {"x": SECRET}))
    told = log()
    assert_silent(told)
    assert told.count("statement health.store failed: code") >= 3


def test_searches_and_writes_that_run_out_of_time_or_of_their_caller(services: Services, log: Any, org: str) -> None:
    hostile = {**HOSTILE, "org": f"acme-corp-{org}"}
    gone = Deadline(30.0)
    gone.cancel()
    for deadline in (Deadline(0.0), gone):
        with pytest.raises(LoomError):
            services.search(wire.MemorySearchRequest.model_validate({**hostile, "query": SECRET}), deadline)
        with pytest.raises(LoomError):
            services.set(
                wire.MemorySetRequest.model_validate({**hostile, "memory_key": SECRET, "value": SECRET}), deadline
            )
    told = log()
    assert_silent(told)
    assert told.count("cancelled") >= 2
    assert told.count("deadline_exceeded") >= 2


def test_a_caller_that_hangs_up_tells_nothing_of_what_it_sent(log: Any) -> None:
    def wait(request: Any, deadline: Deadline) -> wire.Answer:
        deadline.check()
        raise Cancelled(SECRET)

    class Waiting:
        search = staticmethod(wait)

    metrics = Metrics()
    app = create_app(Waiting, Settings(), metrics=metrics)  # type: ignore[arg-type]
    asyncio.run(hang_up(app, b'{"query": "' + SECRET.encode() + b'"}'))
    told = log()
    assert_silent(told)
    sample = {"door": "http", "operation": "memory.search", "status": "503"}
    assert metrics.registry.get_sample_value("loom_requests_total", sample) == 1


async def hang_up(app: Any, body: bytes) -> None:
    """Send a search over bare ASGI and go away at once."""
    told = iter([{"type": "http.request", "body": body, "more_body": False}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        return next(told, {"type": "http.disconnect"})

    async def send(message: Any) -> None:
        pass

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"authorization", SECRET.encode())]
    scope = {
        "type": "http", "method": "POST", "path": "/v1/memory.search", "raw_path": b"/v1/memory.search",
        "query_string": SECRET.encode(), "headers": headers, "http_version": "1.1", "scheme": "http",
        "server": ("localhost", 80), "client": ("localhost", 1), "root_path": "",
    }  # fmt: skip
    await app(scope, receive, send)
