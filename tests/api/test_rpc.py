"""JSON-RPC 2.0: requests, notifications, batches and each of its errors."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from doors import DETAIL, JSON, client_of, raising
from loom_server.errors import StoreUnavailable


def call(client: TestClient, body: Any) -> Any:
    """The answer to a body that is answered with 200."""
    answer = client.post("/rpc", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def get(org: str, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "memory.get", "params": {"org": org, "memory_key": "k"}, **members}


@pytest.mark.parametrize("identity", [1, 0, -7, "", "abc", "1", 1.5, None, 2**53 + 1])
def test_the_id_comes_back_as_it_was(client: TestClient, org: str, identity: Any) -> None:
    answer = call(client, get(org, id=identity))
    assert answer == {"jsonrpc": "2.0", "result": {"found": False}, "id": identity}
    assert type(answer["id"]) is type(identity)


def test_a_notification_is_done_and_not_answered(client: TestClient, org: str) -> None:
    params = {"org": org, "memory_key": "k", "value": "v"}
    answer = client.post("/rpc", json={"jsonrpc": "2.0", "method": "memory.set", "params": params})
    assert (answer.status_code, answer.content) == (204, b"")
    assert call(client, get(org, id=1))["result"]["value"] == "v"


@pytest.mark.parametrize("method", ["memory.get", "no.such", "rpc.describe"])
def test_a_notification_that_fails_is_not_answered_either(client: TestClient, method: str) -> None:
    answer = client.post("/rpc", json={"jsonrpc": "2.0", "method": method, "params": {}})
    assert (answer.status_code, answer.content) == (204, b"")


def test_a_batch_is_answered_call_by_call(client: TestClient, org: str) -> None:
    answers = call(
        client,
        [
            get(org, id="a"),
            get(org),
            {"jsonrpc": "2.0", "method": "no.such", "id": "b"},
            7,
            get(org, id="c", params={"org": org}),
        ],
    )
    assert [(one["id"], one.get("error", {}).get("code")) for one in answers] == [
        ("a", None),
        ("b", -32601),
        (None, -32600),
        ("c", -32602),
    ]


def test_a_batch_of_notifications_is_not_answered(client: TestClient, org: str) -> None:
    answer = client.post("/rpc", json=[get(org), get(org)])
    assert (answer.status_code, answer.content) == (204, b"")


@pytest.mark.parametrize("size", [0, 33])
def test_a_batch_has_bounds(client: TestClient, org: str, size: int) -> None:
    answer = call(client, [get(org, id=1)] * size)
    assert answer["error"]["code"] == -32600
    assert answer["id"] is None
    assert answer["error"]["message"] == f"A batch holds 1 to 32 calls, not {size}."


def test_the_largest_batch_is_answered(client: TestClient, org: str) -> None:
    assert len(call(client, [get(org, id=number) for number in range(32)])) == 32


@pytest.mark.parametrize("body", [b"", b"{", b'{"jsonrpc": "2.0"', b"NaN", b"\xff", b"\xef\xbb\xbf{}"])
def test_what_is_not_json_is_a_parse_error(client: TestClient, body: bytes) -> None:
    answer = client.post("/rpc", content=body, headers=JSON)
    told = answer.json()
    assert answer.status_code == 400
    assert (told["jsonrpc"], told["id"], told["error"]["code"]) == ("2.0", None, -32700)
    assert told["error"]["data"]["code"] == "invalid_json"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (7, None),
        ("memory.get", None),
        ({}, "jsonrpc"),
        ({"jsonrpc": 2.0, "method": "memory.get", "id": 1}, "jsonrpc"),
        ({"jsonrpc": "1.0", "method": "memory.get", "id": 1}, "jsonrpc"),
        ({"jsonrpc": "2.0", "id": 1}, "method"),
        ({"jsonrpc": "2.0", "method": 7, "id": 1}, "method"),
        ({"jsonrpc": "2.0", "method": "memory.get", "id": 1, "parameters": {}}, "parameters"),
        ({"jsonrpc": "2.0", "method": "memory.get", "id": True}, "id"),
        ({"jsonrpc": "2.0", "method": "memory.get", "id": {}}, "id"),
        ({"jsonrpc": "2.0", "method": "memory.get", "id": [1]}, "id"),
    ],
)
def test_what_is_no_call_is_an_invalid_request(client: TestClient, body: Any, path: str | None) -> None:
    told = call(client, body)
    assert told["error"]["code"] == -32600
    assert [one["path"] for one in told["error"]["data"]["errors"]] == ([path] if path else [])
    assert told["id"] == (1 if isinstance(body, dict) and body.get("id") == 1 and path != "id" else None)


@pytest.mark.parametrize("method", ["memory.gett", "", "memory.get ", "rpc.describe", "rpc.", "__class__"])
def test_an_unknown_method_is_not_found(client: TestClient, method: str) -> None:
    told = call(client, {"jsonrpc": "2.0", "method": method, "id": 1})
    assert told["error"]["code"] == -32601
    assert told["error"]["data"]["code"] == "unknown_operation"


@pytest.mark.parametrize("params", [[], ["k"], None, "k", 7])
def test_parameters_are_given_by_name(client: TestClient, params: Any) -> None:
    told = call(client, {"jsonrpc": "2.0", "method": "memory.get", "params": params, "id": 1})
    assert told["error"]["code"] == -32602
    assert told["error"]["message"] == "memory.get takes one JSON object with memory_key, its fields by name."


def test_parameters_may_be_left_out(client: TestClient) -> None:
    assert call(client, {"jsonrpc": "2.0", "method": "ops.capabilities", "id": 1})["result"]["operations"]


def test_an_error_carries_the_members_of_http(client: TestClient) -> None:
    told = call(client, {"jsonrpc": "2.0", "method": "memory.get", "params": {"memory_kye": "k"}, "id": 1})["error"]
    assert set(told) == {"code", "message", "data"}
    assert set(told["data"]) == DETAIL
    assert told["message"] == told["data"]["message"]
    assert {one["path"]: one["message"] for one in told["data"]["errors"]} == {
        "memory_key": "is required",
        "memory_kye": "is not a field of memory.get (did you mean memory_key?)",
    }


def test_one_failing_call_leaves_the_others_of_its_batch(org: str) -> None:
    with client_of(raising(StoreUnavailable("The store is closed."))) as failing:
        answers = call(failing, [get(org, id=1), {"jsonrpc": "2.0", "method": "no.such", "id": 2}])
    assert [(one["id"], one["error"]["code"]) for one in answers] == [(1, -32007), (2, -32601)]
