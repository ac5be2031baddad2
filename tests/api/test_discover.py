"""`rpc.discover`: the document keeps OpenRPC's rules, and tells what the door really takes and answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from fastapi.testclient import TestClient

from doors import MINIMAL, by_rpc, client_of, raising
from loom_client import wire
from loom_client.wire.contracts import unbuilt
from loom_server import __version__
from loom_server.api.operations import OPERATIONS
from loom_server.errors import LoomError, StoreUnavailable
from loom_server.observe.labels import tree

Rules = Mapping[str, tuple[type, bool]]
"""The members that an object of OpenRPC may have: the kind of each, and whether it must be there."""

DOCUMENT: Rules = {"openrpc": (str, True), "info": (dict, True), "methods": (list, True), "components": (dict, False)}
INFO: Rules = {"title": (str, True), "version": (str, True), "description": (str, False)}
TAG: Rules = {"name": (str, True), "description": (str, False), "summary": (str, False)}
ERROR: Rules = {"code": (int, True), "message": (str, True), "data": (dict, False)}
DESCRIPTOR: Rules = {
    "name": (str, True),
    "summary": (str, False),
    "description": (str, False),
    "required": (bool, False),
    "schema": (dict, True),
    "deprecated": (bool, False),
}
METHOD: Rules = {
    "name": (str, True),
    "tags": (list, False),
    "summary": (str, False),
    "description": (str, False),
    "params": (list, True),
    "result": (dict, True),
    "errors": (list, False),
    "paramStructure": (str, False),
}
KINDS = [kind for kind in tree(LoomError) if "code" in vars(kind)]
LATER_DRAFTS = {"prefixItems", "$defs", "dependentRequired", "dependentSchemas", "unevaluatedProperties", "minContains"}


def assert_keeps(rules: Rules, part: Any) -> None:
    """The object has what it must have, nothing that is not known, and each of its kind."""
    assert isinstance(part, dict)
    assert {name for name, (_, needed) in rules.items() if needed} <= part.keys() <= rules.keys()
    assert all(type(value) is rules[name][0] and value != "" for name, value in part.items())


def objects(part: Any) -> Iterator[dict[str, Any]]:
    """Every object inside a value."""
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from objects(inner)


def followed(document: Any, reference: str) -> Any:
    """What a reference of the document names. Raises KeyError where it leads nowhere."""
    assert reference.startswith("#/")
    for step in reference[2:].split("/"):
        document = document[step]
    return document


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The document of a service that is still starting."""
    with client_of(None) as starting:
        return by_rpc(starting, "rpc.discover", {}).result


@pytest.fixture(params=OPERATIONS)
def method(document: dict[str, Any], request: pytest.FixtureRequest) -> dict[str, Any]:
    """Each method in turn."""
    return next(one for one in document["methods"] if one["name"] == request.param)


def test_it_is_an_openrpc_document_of_this_service(document: dict[str, Any]) -> None:
    assert_keeps(DOCUMENT, document)
    assert_keeps(INFO, document["info"])
    assert document["openrpc"] == "1.3.2"
    assert document["info"]["version"] == __version__
    assert set(document["components"]) == {"schemas", "errors"}
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", name) for part in document["components"].values() for name in part)


def test_its_methods_are_the_operations(document: dict[str, Any]) -> None:
    assert [one["name"] for one in document["methods"]] == list(OPERATIONS)


def test_a_method_keeps_the_rules(document: dict[str, Any], method: dict[str, Any]) -> None:
    assert_keeps(METHOD, method)
    for descriptor in (*method["params"], method["result"]):
        assert_keeps(DESCRIPTOR, descriptor)
    for tag in method["tags"]:
        assert_keeps(TAG, tag)
    assert all(set(error) == {"$ref"} for error in method["errors"])
    needed = [one["required"] for one in method["params"]]
    assert len({one["name"] for one in method["params"]}) == len(needed)
    assert needed == sorted(needed, reverse=True)
    assert method["paramStructure"] == "by-name"
    numbers = [followed(document, error["$ref"])["code"] for error in method["errors"]]
    assert len(set(numbers)) == len(numbers) > 0


def test_a_method_tells_the_fields_of_its_operation(document: dict[str, Any], method: dict[str, Any]) -> None:
    contract = wire.CONTRACTS[method["name"]]
    fields = contract.request.model_fields
    told = {one["name"]: one for one in method["params"]}
    assert {name: one["required"] for name, one in told.items()} == {
        name: info.is_required() for name, info in fields.items()
    }
    assert {name for name, one in told.items() if "x-not-built" in one["schema"]} == set(unbuilt(contract.request))
    answer = followed(document, method["result"]["schema"]["$ref"])
    assert set(answer["properties"]) == set(contract.response.model_fields)
    assert [tag["name"] for tag in method["tags"]] == [method["name"].split(".")[0], contract.access]


def test_every_method_can_be_called(client: TestClient, org: str, method: dict[str, Any]) -> None:
    given = {"org": org} if any(one["name"] == "org" for one in method["params"]) else {}
    outcome = by_rpc(client, method["name"], MINIMAL[method["name"]] | given)
    assert outcome.error is None or outcome.error["code"] == "not_found"
    if outcome.result is not None:
        assert set(outcome.result) <= set(wire.CONTRACTS[method["name"]].response.model_fields)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_error_of_a_method_is_in_the_document(document: dict[str, Any], kind: type[LoomError]) -> None:
    with client_of(raising(kind("It failed."))) as failing:
        outcome = by_rpc(failing, "memory.delete", MINIMAL["memory.delete"])
    method = next(one for one in document["methods"] if one["name"] == "memory.delete")
    told = {error["code"]: error for error in (followed(document, one["$ref"]) for one in method["errors"])}
    if kind.rpc_code in (-32700, -32600, -32601, -32002):
        assert kind.rpc_code not in told
        return
    assert_keeps(ERROR, told[outcome.rpc_code])
    shown = {one["code"]: one for one in told[outcome.rpc_code]["data"]["codes"]}
    assert shown[kind.code] == {member: outcome.error[member] for member in ("code", "category", "retryable")}


def test_a_read_has_no_conflict(document: dict[str, Any]) -> None:
    for one in document["methods"]:
        told = {followed(document, error["$ref"])["code"] for error in one["errors"]}
        assert (-32004 in told) == (wire.CONTRACTS[one["name"]].access == "write")


def test_schemas_are_of_the_draft_that_openrpc_reads_and_lead_somewhere(document: dict[str, Any]) -> None:
    references = [one["$ref"] for one in objects(document) if "$ref" in one]
    assert len(references) > 100
    assert all(followed(document, reference) is not None for reference in references)
    schemas = document["components"]["schemas"]
    assert not [one for one in objects(schemas) if LATER_DRAFTS & one.keys()]
    pair = schemas["MatchedTerm"]["properties"]["offsets"]["items"]
    assert (pair["items"], pair["maxItems"]) == ([{"type": "integer"}, {"type": "integer"}], 2)
    assert set(schemas["Problem"]["properties"]) == set(wire.Problem.model_fields)


def test_it_asks_no_service(document: dict[str, Any]) -> None:
    with client_of(raising(StoreUnavailable("The store is closed."))) as failing:
        assert by_rpc(failing, "rpc.discover", {}).result == document


@pytest.mark.parametrize("members", [{}, {"params": {}}, {"params": []}])
def test_parameters_are_left_out_or_empty(client: TestClient, document: dict[str, Any], members: Any) -> None:
    answer = client.post("/rpc", json={"jsonrpc": "2.0", "id": 1, "method": "rpc.discover", **members})
    assert answer.json() == {"jsonrpc": "2.0", "id": 1, "result": document}


@pytest.mark.parametrize("params", [{"org": "dev"}, ["dev"], None, 0, "", False])
def test_parameters_are_refused(client: TestClient, params: Any) -> None:
    outcome = by_rpc(client, "rpc.discover", params)
    assert (outcome.rpc_code, outcome.error["code"]) == (-32602, "invalid_input")
    assert outcome.error["message"] == "rpc.discover takes no parameters; leave params out."


def test_it_stands_in_a_batch_and_as_a_notification(client: TestClient, document: dict[str, Any]) -> None:
    call = {"jsonrpc": "2.0", "method": "rpc.discover"}
    assert client.post("/rpc", json=[call, {**call, "id": 2}]).json() == [
        {"jsonrpc": "2.0", "id": 2, "result": document}
    ]
    assert client.post("/rpc", json=call).status_code == 204


def test_it_is_no_operation_of_flat_http(client: TestClient) -> None:
    assert client.post("/v1/rpc.discover", json={}).status_code == 404
