"""No body, however odd, makes the service fail: every answer is a result or a refusal in its shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from doors import DETAIL, JSON, client_of
from loom_client import wire
from loom_server.service.services import Services

NAMES = sorted(wire.CONTRACTS)
FIELDS = sorted({name for contract in wire.CONTRACTS.values() for name in contract.request.model_fields})
TEXTS = st.text(max_size=20) | st.sampled_from(["fact", "rrf", "-", "k", "2026-01-01", "namespace", "\x00", "a" * 600])
NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(FIELDS) | TEXTS, inner, max_size=4),
    max_leaves=12,
)
BODIES = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=5)
PLAUSIBLE = st.fixed_dictionaries(
    {"memory_key": TEXTS, "query": TEXTS},
    optional={
        "value": VALUES,
        "metadata": st.dictionaries(TEXTS, VALUES, max_size=3),
        "tags": st.lists(TEXTS, max_size=3),
    },
)

few = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def client(services: Services) -> Iterator[TestClient]:
    """The doors over the real services."""
    with client_of(services) as opened:
        yield opened


def assert_refused(answer: Any) -> None:
    """The answer is a refusal of the request, in the one shape."""
    assert answer.status_code in (400, 404, 409, 413, 422), answer.text
    assert set(answer.json()["detail"]) == DETAIL


@few
@given(name=st.sampled_from(NAMES), body=BODIES | VALUES | PLAUSIBLE)
def test_any_json_on_flat_http(client: TestClient, org: str, name: str, body: Any) -> None:
    if isinstance(body, dict):
        fields = wire.CONTRACTS[name].request.model_fields
        body = {key: value for key, value in body.items() if key in fields} | ({"org": org} if "org" in fields else {})
    answer = client.post(f"/v1/{name}", content=orjson.dumps(body), headers=JSON)
    if answer.status_code != 200:
        assert_refused(answer)


@few
@given(
    body=VALUES
    | st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0"), "method": st.sampled_from(NAMES)},
        optional={
            "id": SCALARS,
            "params": BODIES,
        },
    )
)
def test_any_json_on_rpc(client: TestClient, body: Any) -> None:
    answer = client.post("/rpc", content=orjson.dumps(body), headers=JSON)
    assert answer.status_code in (200, 204)
    told = answer.json() if answer.content else []
    for one in told if isinstance(told, list) else [told]:
        assert one["jsonrpc"] == "2.0"
        assert one.get("error", {}).get("code") != -32603, one


@few
@given(path=st.sampled_from(["/rpc", *(f"/v1/{name}" for name in NAMES)]), body=st.binary(max_size=64))
def test_any_bytes(client: TestClient, path: str, body: bytes) -> None:
    answer = client.post(path, content=body, headers=JSON)
    assert answer.status_code < 500, answer.text


@few
@given(value=VALUES)
def test_a_value_comes_back_as_it_went_in(client: TestClient, org: str, value: Any) -> None:
    answer = client.post(
        "/v1/memory.set", content=orjson.dumps({"org": org, "memory_key": "k", "value": value}), headers=JSON
    )
    assert answer.status_code == 200, answer.text
    assert orjson.loads(client.post("/v1/memory.get", json={"org": org, "memory_key": "k"}).content)["value"] == value
