"""From keyword arguments to bytes: what is refused before it is sent."""

from __future__ import annotations

from typing import Any

import pytest

from loom_client import wire
from loom_client.chunks import chunks, joined
from loom_client.errors import InvalidCall
from loom_client.requests import body_of, call_of, contract_of, request_of


def test_only_what_was_given_is_sent() -> None:
    assert body_of(request_of("memory.search", {"query": "q", "top_k": None})) == b'{"query":"q","top_k":null}'


@pytest.mark.parametrize(
    ("fields", "path"),
    [({}, "query"), ({"query": "q", "topk": 3}, "topk"), ({"query": "q", "top_k": "3"}, "top_k"),
     ({"query": "q", "hyde": True}, "hyde"), ({"query": "q", "scope": "user"}, "user_id")],
)  # fmt: skip
def test_a_wrong_field_is_named(fields: dict[str, object], path: str) -> None:
    with pytest.raises(InvalidCall, match=f"memory.search: .*{path}") as caught:
        request_of("memory.search", fields)
    assert path in [one.path for one in caught.value.errors]


@pytest.mark.parametrize("value", [float("nan"), [1, {"a": float("inf")}], "\ud800"])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(InvalidCall, match="MemorySetRequest: holds"):
        body_of(wire.MemorySetRequest(memory_key="k", value=value))


def test_every_operation_has_a_request_of_its_own() -> None:
    assert {contract_of(one.request.model_construct()).name for one in wire.CONTRACTS.values()} == set(wire.CONTRACTS)


def test_a_part_of_a_request_is_none() -> None:
    with pytest.raises(InvalidCall, match="MemoryItem is not the request"):
        contract_of(wire.MemoryItem(memory_key="k", value=1))


def test_a_search_has_its_own_time_and_a_margin() -> None:
    request = wire.MemorySearchRequest(query="q", timeout_ms=1500)
    assert call_of(request, wire.MemorySearchResponse, 35.0, None).timeout_s == 6.5


def test_a_write_has_a_key_of_its_own_and_a_read_none() -> None:
    write, read = wire.MemorySetRequest(memory_key="k", value=1), wire.MemoryGetRequest(memory_key="k")
    made = {call_of(write, wire.MemorySetResponse, 1.0, None).key for _ in range(3)}
    assert len(made) == 3
    assert call_of(write, wire.MemorySetResponse, 1.0, "mine").key == "mine"
    assert call_of(read, wire.MemoryGetResponse, 1.0, None).key == ""
    with pytest.raises(InvalidCall, match="is for writes"):
        call_of(read, wire.MemoryGetResponse, 1.0, "mine")


@pytest.mark.parametrize("key", ["", "a\nb", "a b", "ключ", "x" * 256])
def test_a_key_that_a_header_cannot_hold_is_refused(key: str) -> None:
    with pytest.raises(InvalidCall, match="idempotency_key"):
        call_of(wire.MemorySetRequest(memory_key="k", value=1), wire.MemorySetResponse, 1.0, key)


def items(count: int, size: int = 1) -> list[dict[str, object]]:
    return [{"memory_key": f"k{number}", "value": "x" * size} for number in range(count)]


@pytest.mark.parametrize(
    ("count", "limits", "sizes"),
    [(0, {"items": 3, "body_bytes": 9_999}, []), (7, {"items": 3, "body_bytes": 9_999}, [3, 3, 1]),
     (3, {"items": 3, "body_bytes": 9_999}, [3]), (3, {"items": 3, "body_bytes": 10}, [1, 1, 1])],
)  # fmt: skip
def test_chunks_keep_to_the_number_of_items(count: int, limits: dict[str, int], sizes: list[int]) -> None:
    made = list(chunks(items(count), {"org": "o"}, limits))
    assert list(map(len, made)) == sizes
    assert [item.memory_key for one in made for item in one] == [f"k{number}" for number in range(count)]


def test_chunks_keep_to_the_bytes_of_a_body() -> None:
    made = list(chunks(items(50, 1000), {"agent": "ä" * 40}, {"items": 1000, "body_bytes": 8_000}))
    assert len(made) < 10
    bodies = [body_of(wire.MemorySetManyRequest(agent="ä" * 40, items=one)) for one in made]
    assert max(map(len, bodies)) <= 8_000


def test_a_wrong_item_is_named_before_anything_is_sent() -> None:
    with pytest.raises(InvalidCall, match="memory_key"):
        list(chunks([{"value": 1}], {}, {"items": 3, "body_bytes": 9_999}))


def test_answers_are_joined_in_order() -> None:
    refused = wire.MemoryRefused(
        memory_key="b", error=wire.Problem(code="c", message="m", category="request", retryable=False)
    )
    one = wire.MemorySetManyResponse(results=(refused,), written=0, unchanged=2, refused=1)
    two = wire.MemorySetManyResponse(results=(), written=3, unchanged=1, refused=0)
    whole = joined([one, two])
    assert (whole.results, whole.written, whole.unchanged, whole.refused) == ((refused,), 3, 3, 1)
