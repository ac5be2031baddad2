"""Bounds: each refused with its number, and what lies just inside it accepted."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from doors import DOORS, HEALTHY, JSON, MINIMAL, StandIn, client_of
from loom_client import wire
from loom_server.api.app import create_app
from loom_server.errors import DeadlineExceeded
from loom_server.model.deadline import Deadline
from loom_server.settings import Settings


def nested(depth: int) -> Any:
    """Lists inside each other."""
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.fixture(scope="module")
def small() -> Iterator[TestClient]:
    """An application that accepts bodies of 1,000 bytes."""
    with client_of(StandIn(lambda request, deadline: HEALTHY), max_body_bytes=1_000) as client:
        yield client


@pytest.mark.parametrize("size", [1_000, 1_001])
def test_a_body_is_bounded_by_what_it_says_of_its_size(small: TestClient, size: int) -> None:
    answer = small.post("/v1/ops.health", content=b"{}" + b" " * (size - 2), headers=JSON)
    assert answer.status_code == (200 if size == 1_000 else 413)


@pytest.mark.parametrize("size", [1_000, 1_001])
def test_a_body_is_bounded_while_it_is_read(small: TestClient, size: int) -> None:
    pieces = iter([b"{}", b" " * 500, b" " * (size - 502)])
    answer = small.post("/v1/ops.health", content=pieces, headers=JSON)
    assert answer.status_code == (200 if size == 1_000 else 413)
    if size > 1_000:
        assert answer.json()["detail"]["message"] == "A body may have 1000 bytes; send fewer items in one call."


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("depth", [31, 32])
def test_nesting_is_bounded_alike_on_both_doors(client: TestClient, org: str, door: str, depth: int) -> None:
    told = DOORS[door](client, "memory.set", {"org": org, "memory_key": "k", "value": nested(depth)})
    assert (told.error is None) == (depth == 31)
    if told.error:
        assert (told.error["code"], told.error["message"]) == (
            "too_large",
            "The request is nested deeper than 32 levels.",
        )


@pytest.mark.parametrize("path", ["/v1/memory.set", "/rpc"])
def test_nesting_beyond_all_measure_is_refused_too(client: TestClient, path: str) -> None:
    answer = client.post(path, content=b"[" * 100_000, headers=JSON)
    assert (answer.status_code, answer.json()["detail"]["code"]) == (413, "too_large")


@pytest.mark.parametrize("number", [2**64 - 1, -(2**63), 1.5e300, 12345678901234567.25])
def test_a_number_that_can_be_kept_is_kept(client: TestClient, org: str, number: float) -> None:
    client.post("/v1/memory.set", json={"org": org, "memory_key": "k", "value": number})
    assert client.post("/v1/memory.get", json={"org": org, "memory_key": "k"}).json()["value"] == number


@pytest.mark.parametrize("number", ["18446744073709551616", "-9223372036854775809", "1" * 300])
def test_a_number_that_would_be_rounded_is_refused(client: TestClient, number: str) -> None:
    body = f'{{"memory_key": "k", "value": [{number}]}}'
    answer = client.post("/v1/memory.set", content=body, headers=JSON)
    assert answer.status_code == 400
    assert answer.json()["detail"]["message"].endswith("has more than 64 bits; send it as text.")
    called = client.post("/rpc", content=f'{{"jsonrpc": "2.0", "id": {number}}}', headers=JSON)
    assert (called.status_code, called.json()["error"]["code"]) == (400, -32700)


def test_digits_in_text_are_no_number(client: TestClient, org: str) -> None:
    digits = "9" * 40
    client.post("/v1/memory.set", json={"org": org, "memory_key": "k", "value": digits})
    assert client.post("/v1/memory.get", json={"org": org, "memory_key": "k"}).json()["value"] == digits


@pytest.mark.parametrize(
    ("kind", "served"),
    [
        ("application/json", True),
        ("application/json; charset=utf-8", True),
        ('Application/JSON; charset="UTF-8"', True),
        ("application/json; charset=latin-1", False),
        ("text/plain", False),
        ("application/x-www-form-urlencoded", False),
        ("", False),
    ],
)
def test_only_json_is_read(client: TestClient, kind: str, served: bool) -> None:
    answer = client.post("/v1/ops.capabilities", content=b"{}", headers={"content-type": kind})
    assert answer.status_code == (200 if served else 415)


def test_a_packed_body_is_refused(client: TestClient) -> None:
    headers = {**JSON, "content-encoding": "gzip"}
    assert client.post("/v1/ops.capabilities", content=gzip.compress(b"{}"), headers=headers).status_code == 415


@pytest.mark.parametrize(
    ("host", "served"),
    [
        ("127.0.0.1:7777", True),
        ("127.0.0.1", True),
        ("127.8.8.8:1", True),
        ("localhost:7777", True),
        ("LOCALHOST", True),
        ("localhost.:7777", True),
        ("[::1]:7777", True),
        ("loom.internal", False),
        ("evil.example:7777", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False),
        ("10.0.0.1", False),
        ("", False),
    ],
)
def test_only_this_machine_is_a_host(client: TestClient, host: str, served: bool) -> None:
    assert client.get("/health/live", headers={"host": host}).status_code == (200 if served else 403)


def test_the_configured_host_is_one_too() -> None:
    with client_of(None, host="loom.internal") as client:
        assert client.get("/health/live", headers={"host": "loom.internal:7777"}).status_code == 200


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("name", "body", "code", "path"),
    [
        ("memory.search", {"query": "q" * 4_001}, "too_large", "query"),
        ("memory.search", {"query": ""}, "invalid_input", "query"),
        ("memory.search", {"query": "q", "top_k": 201}, "invalid_input", "top_k"),
        ("memory.search", {"query": "q", "top_k": 0}, "invalid_input", "top_k"),
        ("memory.set_many", {"items": [{"memory_key": "k", "value": 1}] * 1_001}, "too_large", "items"),
        ("memory.set_many", {"items": []}, "invalid_input", "items"),
        ("memory.set", {"memory_key": "k", "value": "v" * 2_000_001}, "too_large", "value"),
        ("memory.list", {"limit": 1_001}, "invalid_input", "limit"),
        ("memory.get", {"memory_key": "k" * 513}, "invalid_input", "memory_key"),
        ("memory.set", {"memory_key": "k", "value": 1, "tags": ["t"] * 65}, "invalid_input", "tags"),
    ],
)
def test_a_field_beyond_its_bound_is_refused_with_its_path(
    client: TestClient, door: str, name: str, body: dict[str, Any], code: str, path: str
) -> None:
    told = DOORS[door](client, name, body)
    assert (told.error["code"], [one["path"] for one in told.error["errors"]]) == (code, [path])


def test_many_wrong_fields_are_told_up_to_a_bound(client: TestClient) -> None:
    detail = client.post("/v1/memory.set_many", json={"items": [{}] * 100}).json()["detail"]
    assert len(detail["errors"]) == 20
    assert detail["message"].endswith("; and 197 more.")


@pytest.mark.parametrize(("asked", "given"), [({}, 2.0), ({"timeout_ms": 500}, 0.5), ({"timeout_ms": 9_000}, 2.0)])
def test_a_search_has_the_time_it_asks_for_up_to_the_cap(asked: dict[str, Any], given: float) -> None:
    seen: list[float] = []

    def behave(request: Any, deadline: Deadline) -> wire.Answer:
        seen.append(deadline.left())
        raise DeadlineExceeded("Over.")

    with client_of(StandIn(behave), memory_search_timeout_ms=2_000) as client:
        answer = client.post("/v1/memory.search", json={"query": "q", **asked})
    assert answer.status_code == 504
    assert given - 0.4 < seen[0] <= given


def test_a_client_that_hangs_up_ends_the_deadline_of_its_call() -> None:
    begun, ended = threading.Event(), threading.Event()

    def behave(request: Any, deadline: Deadline) -> wire.Answer:
        deadline.on_cancel(ended.set)
        begun.set()
        assert ended.wait(10)
        deadline.check()
        raise AssertionError("the deadline was not cancelled")

    statuses = asyncio.run(_hang_up(StandIn(behave), begun))
    assert ended.is_set()
    assert statuses == [503]


async def _hang_up(services: Any, begun: threading.Event) -> list[int]:
    """Send a search and go away once it runs; the statuses that were answered nevertheless."""
    app = create_app(lambda: services, Settings())
    body = b'{"query": "q"}'
    sent: list[int] = []
    messages = iter([{"type": "http.request", "body": body, "more_body": False}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        message = next(messages)
        if message["type"] == "http.disconnect":
            await asyncio.to_thread(begun.wait, 10)
        return message

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            sent.append(message["status"])

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/v1/memory.search", "query_string": b"", "headers": headers}
    await app({**scope, "http_version": "1.1", "scheme": "http", "root_path": ""}, receive, send)
    return sent


def test_every_operation_is_bounded_in_time() -> None:
    seen: dict[str, float] = {}

    def behave(request: Any, deadline: Deadline) -> wire.Answer:
        seen[type(request).__name__] = deadline.left()
        raise DeadlineExceeded("Over.")

    with client_of(StandIn(behave)) as client:
        for name in wire.CONTRACTS:
            client.post(f"/v1/{name}", json=MINIMAL[name])
    assert len(seen) == len(wire.CONTRACTS)
    assert max(seen.values()) <= 30.0
    assert seen["OpsHealthRequest"] <= 5.0
