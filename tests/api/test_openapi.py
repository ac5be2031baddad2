"""OpenAPI: every operation by its own name, its models, and each error in the one shape."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from loom_client import wire


@pytest.fixture(scope="module")
def document(client: TestClient) -> dict[str, Any]:
    return client.get("/openapi.json").json()


def schema(document: dict[str, Any], reference: dict[str, Any]) -> dict[str, Any]:
    """The component that a reference names."""
    return document["components"]["schemas"][reference["$ref"].rpartition("/")[2]]


def test_it_is_of_this_service(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    assert document["info"]["title"] == "Loom Recall"


@pytest.mark.parametrize("name", wire.CONTRACTS)
def test_an_operation_is_described_whole(document: dict[str, Any], name: str) -> None:
    contract = wire.CONTRACTS[name]
    told = document["paths"][f"/v1/{name}"]["post"]
    assert (told["operationId"], told["summary"]) == (name, contract.summary)
    request = schema(document, told["requestBody"]["content"]["application/json"]["schema"])
    assert set(request.get("properties", {})) == set(contract.request.model_fields)
    assert request["additionalProperties"] is False
    answer = schema(document, told["responses"]["200"]["content"]["application/json"]["schema"])
    assert set(answer["properties"]) == set(contract.response.model_fields)


@pytest.mark.parametrize("name", wire.CONTRACTS)
def test_every_error_of_an_operation_has_the_one_shape(document: dict[str, Any], name: str) -> None:
    responses = document["paths"][f"/v1/{name}"]["post"]["responses"]
    errors = {status: told for status, told in responses.items() if status != "200"}
    expected = {"400", "403", "404", "405", "413", "415", "422", "429", "500", "503", "504"}
    assert set(errors) == expected | ({"409"} if wire.CONTRACTS[name].access == "write" else set())
    for told in errors.values():
        reference = told["content"]["application/json"]["schema"]
        assert reference["$ref"].endswith("/ProblemBody")
        assert set(schema(document, schema(document, reference)["properties"]["detail"])["properties"]) >= {
            "code",
            "message",
            "errors",
            "request_id",
        }


def test_what_is_not_built_is_marked(document: dict[str, Any]) -> None:
    fields = document["components"]["schemas"]["MemorySearchRequest"]["properties"]
    assert fields["hyde"]["x-not-built"] == "the query is searched as it stands"
    assert "x-not-built" not in fields["top_k"]
    assert fields["search_mode"]["anyOf"][0]["x-built-values"] == list(wire.BUILT_MODES)


def test_the_other_routes_are_described(document: dict[str, Any]) -> None:
    assert set(document["paths"]) == {f"/v1/{name}" for name in wire.CONTRACTS} | {
        "/rpc",
        "/v1/health",
        "/health/live",
        "/health/ready",
        "/health/startup",
    }
    identities = [told["operationId"] for path in document["paths"].values() for told in path.values()]
    assert len(identities) == len(set(identities))


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    pending: list[Any] = [document]
    seen = 0
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            if "$ref" in part:
                schema(document, part)
                seen += 1
            pending.extend(part.values())
        elif isinstance(part, list):
            pending.extend(part)
    assert seen > 100
