"""One shape of error on every route, each error of the tree on both doors, and nothing inside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from fastapi.testclient import TestClient

from doors import DETAIL, DOORS, JSON, MINIMAL, StandIn, client_of, raising
from loom_client import wire
from loom_client.wire.contracts import not_built
from loom_server import errors
from loom_server.errors import LoomError

SECRET = "SELECT value FROM loom.memory WHERE org = 'somebody'"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def tree(kind: type[LoomError] = LoomError) -> list[type[LoomError]]:
    """The error and all below it."""
    return [kind, *(one for below in kind.__subclasses__() for one in tree(below))]


def assert_detail(answer: Any, status: int, code: str) -> None:
    """The answer has the one shape."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    assert set(answer.json()) == {"detail"}
    detail = answer.json()["detail"]
    assert set(detail) == DETAIL
    assert detail["code"] == code
    assert detail["message"]
    assert detail["request_id"] == answer.headers["X-Request-ID"]


def routes(client: TestClient) -> dict[str, set[str]]:
    """Every path that is served, with its methods."""
    paths = client.get("/openapi.json").json()["paths"]
    return {path: {method.upper() for method in told} for path, told in paths.items()} | {"/openapi.json": {"GET"}}


def test_every_route_refuses_other_methods_in_the_one_shape(client: TestClient) -> None:
    walked = [(path, method) for path, served in routes(client).items() for method in METHODS if method not in served]
    assert len(walked) > 80
    for path, method in walked:
        if (path, method) == ("/openapi.json", "OPTIONS"):
            continue
        answer = client.request(method, path)
        assert_detail(answer, 405, "method_not_allowed")
        assert method not in answer.headers["Allow"]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/", "not_found"),
        ("/v1", "not_found"),
        ("/v2/memory.get", "not_found"),
        ("/docs", "not_found"),
        ("/v1/memory.gett", "unknown_operation"),
        ("/v1/memory.get/", "unknown_operation"),
        ("/v1/../etc", "not_found"),
        ("/v1/%00", "unknown_operation"),
    ],
)
def test_an_unknown_path_is_not_found_in_the_one_shape(client: TestClient, path: str, code: str) -> None:
    assert_detail(client.post(path, json={}), 404, code)


def test_every_body_is_refused_in_the_one_shape(client: TestClient) -> None:
    for path, served in routes(client).items():
        if "POST" not in served:
            continue
        assert_detail(
            client.post(path, content=b"{}", headers={"content-type": "text/plain"}), 415, "unsupported_media"
        )
        assert_detail(client.post(path, content=b"x" * 8_000_001, headers=JSON), 413, "too_large")
        assert_detail(client.post(path, json={}, headers={"host": "evil.example"}), 403, "forbidden")
        if path != "/rpc":  # JSON-RPC has its own shape for what is wrong inside a body
            assert_detail(client.post(path, content=b"{", headers=JSON), 400, "invalid_json")
            assert_detail(client.post(path, json=[]), 422, "invalid_input")
            assert_detail(client.post(path, json={"colour": 1}), 422, "invalid_input")


@pytest.fixture(scope="module")
def failing() -> Iterator[tuple[StandIn, TestClient]]:
    """Services that do what a test puts into them, and a client of theirs."""
    services = raising(LoomError("Not set."))
    with client_of(services) as opened:
        yield services, opened


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", tree(), ids=lambda kind: kind.__name__)
def test_every_error_leaves_by_both_doors(
    failing: tuple[StandIn, TestClient], kind: type[LoomError], door: str
) -> None:
    services, client = failing
    error = kind("It is so.", errors=(errors.FieldError("a.b", "is wrong"),), retry_after_s=1.5)
    services.behave = raising(error).behave
    told = DOORS[door](client, "memory.get", MINIMAL["memory.get"])
    assert told.status == (kind.http_status if door == "http" else 200)
    assert told.rpc_code == (kind.rpc_code if door == "rpc" else None)
    assert told.error | {"request_id": ""} == {
        "code": kind.code,
        "message": "It is so.",
        "category": kind.category,
        "retryable": kind.retryable,
        "retry_after_s": 1.5,
        "errors": [{"path": "a.b", "message": "is wrong"}],
        "request_id": "",
    }


def test_when_to_come_back_is_a_header_too() -> None:
    with client_of(raising(errors.StoreUnavailable("Later.", retry_after_s=1.5))) as client:
        assert client.post("/v1/memory.list", json={}).headers["Retry-After"] == "2"
    with client_of(raising(errors.NotFound("Never."))) as client:
        assert "Retry-After" not in client.post("/v1/memory.list", json={}).headers


@pytest.mark.parametrize("door", DOORS)
def test_an_unforeseen_error_tells_nothing_of_itself(door: str) -> None:
    with structlog.testing.capture_logs() as logged, client_of(raising(RuntimeError(SECRET))) as client:
        told = DOORS[door](client, "memory.list", {"prefix": "private"})
    assert told.error["code"] == "internal"
    assert told.rpc_code == (-32603 if door == "rpc" else None)
    assert told.status == (500 if door == "http" else 200)
    assert "SELECT" not in str(told)
    assert [(one["error"], one["where"], one["request_id"]) for one in logged] == [
        ("RuntimeError", "memory.list", told.error["request_id"])
    ]
    assert "in behave" in logged[0]["traceback"]
    assert "SELECT" not in str(logged)
    assert "private" not in str(logged)


NOT_BUILT = [(name, path) for name, contract in wire.CONTRACTS.items() for path, _ in not_built(contract.request)]


@pytest.mark.parametrize("door", DOORS)
def test_every_field_that_is_not_built_is_refused_by_both_doors(client: TestClient, door: str) -> None:
    assert len(NOT_BUILT) > 50
    for name, path in NOT_BUILT:
        parent, _, leaf = path.rpartition(".")
        body: dict[str, Any] = {**MINIMAL[name]}
        if parent == "items":
            body["items"] = [{**body["items"][0], leaf: True}]
        else:
            body.update({parent: {leaf: True}} if parent else {leaf: True})
        told = DOORS[door](client, name, body)
        where = path.replace("items.", "items.0.")
        assert (told.error["code"], [one["path"] for one in told.error["errors"]]) == ("not_supported", [where])
        assert told.status == (400 if door == "http" else 200)
        assert told.rpc_code == (None if door == "http" else -32602)


@pytest.mark.parametrize("door", DOORS)
def test_a_field_that_is_not_built_beside_a_wrong_one_is_invalid_input(client: TestClient, door: str) -> None:
    told = DOORS[door](client, "memory.search", {"query": "q", "recipe": "fast", "top_k": 0})
    assert told.error["code"] == "invalid_input"
    assert {one["path"]: one["message"] for one in told.error["errors"]} == {
        "recipe": "is not built yet; name search_mode, legs and their weights",
        "top_k": "must be at least 1",
    }
