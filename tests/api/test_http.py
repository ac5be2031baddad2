"""Flat HTTP, end to end: each operation through its route, down to the engine and back."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from doors import DETAIL, DOORS, JSON, MINIMAL
from loom_client import wire


def call(client: TestClient, name: str, **body: Any) -> dict[str, Any]:
    """The answer of an operation that succeeds."""
    answer = client.post(f"/v1/{name}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_memory_is_written_read_changed_and_deleted(client: TestClient, org: str) -> None:
    written = call(client, "memory.set", org=org, memory_key="tea", value={"likes": "green tea"}, tags=["drink"])
    assert (written["version"], written["status"], written["noop"]) == (1, "live", False)

    read = call(client, "memory.get", org=org, memory_key="tea")
    assert (read["found"], read["value"], read["tags"]) == (True, {"likes": "green tea"}, ["drink"])
    assert read["content_sha256"] == written["content_sha256"]

    changed = call(client, "memory.update", org=org, memory_key="tea", value={"likes": "black tea"})
    assert (changed["updated"], changed["version"]) == (True, 2)
    assert call(client, "memory.get", org=org, memory_key="tea")["tags"] == ["drink"]
    history = call(client, "memory.history", org=org, memory_key="tea")
    assert [one["version"] for one in history["versions"]] == [2, 1]

    assert call(client, "memory.delete", org=org, memory_key="tea")["tombstoned"] is True
    assert call(client, "memory.get", org=org, memory_key="tea") == {"found": False}


def test_a_row_counts_in_the_very_next_search(client: TestClient, org: str) -> None:
    call(client, "memory.set", org=org, memory_key="db", value="The orders database listens on port 5439.")
    answer = call(client, "memory.search", org=org, query="Which port does the orders database use?")
    assert answer["results"][0]["memory_key"] == "db"
    assert answer["abstain"] is False


def test_many_are_written_and_listed_page_by_page(client: TestClient, org: str) -> None:
    items = [{"memory_key": f"k{number}", "value": number} for number in range(5)]
    assert call(client, "memory.set_many", org=org, items=items)["written"] == 5
    assert call(client, "memory.set_many", org=org, items=items)["unchanged"] == 5
    first = call(client, "memory.list", org=org, limit=3)
    second = call(client, "memory.list", org=org, limit=3, cursor=first["next_cursor"])
    keys = [one["memory_key"] for one in first["memories"] + second["memories"]]
    assert keys == ["k0", "k1", "k2", "k3", "k4"]
    assert second["next_cursor"] is None
    assert call(client, "memory.list", org=org, count_only=True) == {"count": 5}


def test_a_namespace_decides_what_a_search_does(client: TestClient, org: str) -> None:
    call(client, "memory.set", org=org, memory_key="k", value="tea")
    told = call(client, "namespace.set", org=org, retrieval_defaults={"search_mode": "rrf", "top_k": 3})
    assert told["retrieval_defaults"] == {"search_mode": "rrf", "top_k": 3, "floor_mode": None}
    assert call(client, "namespace.get", org=org)["retrieval_defaults"] == told["retrieval_defaults"]
    assert call(client, "memory.search", org=org, query="tea")["search_mode"] == "rrf"


def test_a_search_answers_in_its_own_shape(client: TestClient, org: str) -> None:
    call(client, "memory.set", org=org, memory_key="k", value="Ada likes tea", tags=["drink"])
    answer = call(client, "memory.search", org=org, query="tea", include_tags=True, explain=True)
    assert set(answer) <= set(wire.MemorySearchResponse.model_fields)
    hit = answer["results"][0]
    assert hit["tags"] == ["drink"]
    assert sum(hit["score_components"].values()) == pytest.approx(hit["rank_score"])
    wire.MemorySearchResponse.model_validate(answer)


def test_the_request_id_of_the_caller_goes_in_and_out(client: TestClient, org: str) -> None:
    body = {"org": org, "query": "tea"}
    answer = client.post("/v1/memory.search", json=body, headers={"X-Request-ID": "trace.1_a-B"})
    assert answer.headers["X-Request-ID"] == "trace.1_a-B"
    assert answer.json()["request_id"] == "trace.1_a-B"


@pytest.mark.parametrize("door", DOORS)
def test_a_refused_item_names_the_request_and_has_every_member(client: TestClient, org: str, door: str) -> None:
    items = [{"memory_key": "a", "value": 1, "if_match_sha256": "0" * 64}, {"memory_key": "b", "value": 2}]
    body: Any = {"org": org, "items": items}
    path = "/v1/memory.set_many"
    if door == "rpc":
        path, body = "/rpc", {"jsonrpc": "2.0", "id": 1, "method": "memory.set_many", "params": body}
    answer = client.post(path, json=body, headers={"X-Request-ID": "trace-1"}).json()
    refused, written = answer.get("result", answer)["results"]
    assert set(refused["error"]) == DETAIL
    assert (refused["error"]["code"], refused["error"]["request_id"]) == ("conflict", "trace-1")
    assert written["version"] == 1


@pytest.mark.parametrize("given", ["", "a" * 65, "a b", "a/b", "é".encode("latin-1")])
def test_a_request_id_of_another_form_is_replaced(client: TestClient, given: Any) -> None:
    made = client.get("/health/live", headers={"X-Request-ID": given}).headers["X-Request-ID"]
    assert len(made) == 16
    assert made != client.get("/health/live").headers["X-Request-ID"]


@pytest.mark.parametrize("name", ["ops.health", "ops.capabilities"])
def test_the_service_tells_of_itself(client: TestClient, name: str) -> None:
    wire.CONTRACTS[name].response.model_validate(call(client, name))


def test_the_capabilities_name_every_operation(client: TestClient) -> None:
    assert set(call(client, "ops.capabilities")["operations"]) == set(wire.CONTRACTS)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", ["memory.get", "memory.history", "memory.list", "namespace.get", "memory.search"])
def test_both_doors_give_the_same_answer(client: TestClient, org: str, door: str, name: str) -> None:
    call(client, "memory.set", org=org, memory_key="k", value="tea")
    body = {**MINIMAL[name], "org": org}
    plain, other = DOORS["http"](client, name, body).result, DOORS[door](client, name, body).result
    for answer in (plain, other):
        answer.pop("request_id", None)
        answer.pop("retrieval_work", None)
    assert plain == other


@pytest.mark.parametrize("door", DOORS)
def test_a_key_of_several_writers_is_a_conflict_that_names_them(client: TestClient, org: str, door: str) -> None:
    for agent in ("a", "b"):
        call(client, "memory.set", org=org, agent=agent, memory_key="k", value=agent)
    told = DOORS[door](client, "memory.update", {"org": org, "memory_key": "k", "value": "c"})
    assert told.error["code"] == "conflict"
    assert len(told.error["errors"]) == 2
    assert told.status == (409 if door == "http" else 200)
    assert call(client, "memory.update", org=org, agent="a", memory_key="k", value="c")["updated"] is True


def test_a_missed_update_and_delete_are_answers(client: TestClient, org: str) -> None:
    assert call(client, "memory.update", org=org, memory_key="no", value=1) == {
        "updated": False,
        "reason": "not_found",
    }
    assert call(client, "memory.delete", org=org, memory_key="no")["found"] is False


def test_an_answer_is_json_and_nothing_else_is_served_across_sites(client: TestClient) -> None:
    answer = client.post("/v1/ops.capabilities", content=b"{}", headers={**JSON, "Origin": "http://example.org"})
    assert answer.headers["Content-Type"] == "application/json"
    assert "Access-Control-Allow-Origin" not in answer.headers
    asked = client.options("/v1/memory.search", headers={"Origin": "http://example.org"})
    assert asked.status_code == 405
    assert set(asked.json()["detail"]) == DETAIL
