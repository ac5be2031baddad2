"""Nothing is accepted and then ignored: every built field of every request changes what it is for.

A field of a search or a write changes the engine's input; a field of a read by key, of a list or of
a namespace changes the answer. Each table is held to the fields that the wire calls built.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from fastapi.testclient import TestClient

from loom_client import wire
from loom_client.wire.contracts import not_built
from loom_server.api.operations import OPERATIONS
from loom_server.model.memory import Memory
from loom_server.model.page import Page
from loom_server.model.scope import Identity
from loom_server.service import cursors, intake
from loom_server.settings import Settings

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LATER = "2026-06-01T00:00:00Z"
IDENTITY = {"org": "o", "namespace": "n", "agent": "a", "user_id": "u", "session_id": "s", "run_id": "r"}

SEARCH: dict[str, Any] = {
    **{name: value for name, value in IDENTITY.items() if name != "agent"},
    "query": "another",
    "scope": "agent",
    "session_ids": ["s", "t"],
    "memory_type": "episode",
    "category": "c",
    "tags": ["t"],
    "tags_any": ["t"],
    "tags_all": ["t"],
    "tags_none": ["t"],
    "source_class": "imported",
    "created_after": LATER,
    "created_before": LATER,
    "valid_from": LATER,
    "valid_to": LATER,
    "metadata": {"m": 1},
    "quality_filter": True,
    "search_mode": "rrf",
    "legs": ["fact"],
    "leg_weights": {"fact": 2.0},
    "candidates": {"fact": 7},
    "alpha": 0.3,
    "rrf_k": 10,
    "rrf_adaptive_lexical": False,
    "top_k": 3,
    "include_superseded": True,
    "exclude_keys": ["k"],
    "min_similarity": 0.4,
    "floor_mode": "drop",
    "explain": True,
}
BEYOND_THE_STAGES = {"agent", "include_tags", "timeout_ms", "page"}
"""Fields of a search that act before or after the stages; each has its own test below."""

CONTENT: dict[str, Any] = {
    "value": "another",
    "memory_type": "episode",
    "canonical": "c",
    "summary": "s",
    "metadata": {"m": 1},
    "tags": ["t"],
    "category": "c",
    "entities": ["e"],
    "confidence": 0.5,
    "source_class": "imported",
    "source_trace": "t",
    "source_resource_id": "r",
    "sensitivity": "high",
    "ttl_seconds": 60,
    "valid_at": LATER,
    "valid_to": LATER,
    "if_match_sha256": "0" * 64,
}
WRITE = {**CONTENT, **IDENTITY, "memory_key": "l", "dry_run": True}

STORED = Memory(
    id=1,
    identity=Identity(),
    memory_key="k",
    version=1,
    status="live",
    value='"v"',
    content="v",
    content_sha256="1" * 64,
    created_at=NOW,
)


def built(name: str) -> set[str]:
    """The top-level fields of a request that are built."""
    request = wire.CONTRACTS[name].request
    return set(request.model_fields) - {path for path, _ in not_built(request)}


def searched(**fields: Any) -> Any:
    return intake.search_of(wire.MemorySearchRequest.model_validate({"query": "q", "agent": "b", **fields}))


def written(**fields: Any) -> Any:
    return intake.draft_of(wire.MemorySetRequest.model_validate({"memory_key": "k", "value": "v", **fields}))


def updated(**fields: Any) -> Any:
    request = wire.MemoryUpdateRequest.model_validate({"memory_key": "k", "value": "w", **fields})
    return intake.scope_of(request), request.memory_key, intake.changed(STORED, request)


def test_the_tables_hold_every_built_field() -> None:
    assert set(SEARCH) | BEYOND_THE_STAGES == built("memory.search")
    assert set(WRITE) == built("memory.set")
    assert set(WRITE) == built("memory.update")


@pytest.mark.parametrize("field", SEARCH)
def test_a_field_of_a_search_changes_the_input_of_the_stages(field: str) -> None:
    assert searched(**{field: SEARCH[field]}) != searched()


def test_an_agent_narrows_a_search_by_scope() -> None:
    assert searched(scope="agent", agent="a") != searched(scope="agent", agent="b")


def test_a_page_is_where_a_search_goes_on() -> None:
    page = Page(3, "a" * 16, 9)
    cursor = cursors.write_page(wire.MemorySearchRequest(query="q", agent="b"), page)
    assert (searched().page, searched(page=cursor).page) == (None, page)


def test_a_search_has_the_time_it_asks_for() -> None:
    seconds = OPERATIONS["memory.search"].seconds
    assert seconds(wire.MemorySearchRequest(query="q", timeout_ms=250), Settings()) == 0.25


@pytest.mark.parametrize("field", WRITE)
def test_a_field_of_a_write_changes_what_is_written(field: str) -> None:
    assert written(**{field: WRITE[field]}) != written()


@pytest.mark.parametrize("field", WRITE)
def test_a_field_of_an_update_changes_what_is_written_or_where(field: str) -> None:
    assert updated(**{field: WRITE[field]}) != updated()


@pytest.mark.parametrize("field", ["ttl_seconds", "canonical", "summary", "valid_at", "valid_to"])
def test_null_clears_what_may_be_empty(field: str) -> None:
    full = replace(
        STORED, canonical="c", summary="s", valid_at=NOW, valid_to=NOW, expires_at=datetime(2026, 4, 1, tzinfo=UTC)
    )
    request = wire.MemoryUpdateRequest.model_validate({"memory_key": "k", field: None})
    kept = wire.MemoryUpdateRequest.model_validate({"memory_key": "k", "confidence": 0.5})
    held = "expires_at" if field == "ttl_seconds" else field
    assert getattr(intake.changed(full, request), held) is None
    assert getattr(intake.changed(full, kept), held) is not None


@pytest.mark.parametrize("field", sorted(built("memory.set_many") - {"items"}))
def test_a_field_of_many_writes_reaches_each(field: str) -> None:
    plain = {"items": [{"memory_key": "k", "value": "v"}]}
    first, second = (
        intake.draft_of(next(wire.MemorySetManyRequest.model_validate(body).requests()))
        for body in (plain, {**plain, field: WRITE[field]})
    )
    assert first != second


@pytest.mark.parametrize("field", sorted(set(wire.MemoryItem.model_fields) & set(WRITE)))
def test_a_field_of_an_item_reaches_its_write(field: str) -> None:
    def draft(**fields: Any) -> Any:
        item = {"memory_key": "k", "value": "v", **fields}
        return intake.draft_of(next(wire.MemorySetManyRequest.model_validate({"items": [item]}).requests()))

    assert draft(**{field: WRITE[field]}) != draft()


@pytest.fixture
def told(client: TestClient, org: str) -> Any:
    """Asks an operation about an org that holds a few memories of several writers."""

    def ask(name: str, **fields: Any) -> Any:
        answer = client.post(f"/v1/{name}", json={"org": org, **fields})
        assert answer.status_code == 200, answer.text
        return answer.json()

    for value in ("old", "new"):
        ask("memory.set", memory_key="k", value=value, agent="a", user_id="u", session_id="s", run_id="r")
    ask("memory.set", memory_key="other", value="x", memory_type="episode", tags=["t"])
    return ask


ELSEWHERE = {"namespace": "n", "agent": "b", "user_id": "-", "session_id": "t", "run_id": "-"}

READS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    *(("memory.get", {"memory_key": "k"}, {name: value}) for name, value in ELSEWHERE.items()),
    ("memory.get", {"memory_key": "k"}, {"memory_key": "other"}),
    ("memory.get", {"memory_key": "k"}, {"as_of": "2020-01-01"}),
    ("memory.get", {"memory_key": "k"}, {"if_version": 2}),
    *(("memory.history", {"memory_key": "k"}, {name: value}) for name, value in ELSEWHERE.items()),
    ("memory.history", {"memory_key": "k"}, {"memory_key": "other"}),
    ("memory.history", {"memory_key": "k"}, {"limit": 1}),
    *(("memory.list", {}, {name: value}) for name, value in ELSEWHERE.items()),
    ("memory.list", {}, {"prefix": "o"}),
    ("memory.list", {}, {"memory_type": "episode"}),
    ("memory.list", {}, {"tags": ["t"]}),
    ("memory.list", {}, {"limit": 1}),
    ("memory.list", {}, {"include_superseded": True}),
    ("memory.list", {}, {"count_only": True}),
    ("memory.search", {"query": "new"}, {"include_tags": True}),
]


def test_the_reads_ask_with_every_built_field() -> None:
    for name, apart in (("memory.get", set()), ("memory.history", set()), ("memory.list", {"cursor"})):
        asked = {field for operation, _, fields in READS if operation == name for field in fields}
        assert asked | {"org"} | apart == built(name)


@pytest.mark.parametrize(("name", "fields", "more"), READS, ids=str)
def test_a_field_of_a_read_changes_the_answer(told: Any, name: str, fields: Any, more: Any) -> None:
    first, second = told(name, **fields), told(name, **{**fields, **more})
    for answer in (first, second):
        for volatile in ("request_id", "retrieval_work"):
            answer.pop(volatile, None)
    assert first != second


def test_a_cursor_goes_on_where_a_page_ended(told: Any) -> None:
    page = told("memory.list", limit=1)
    assert told("memory.list", limit=1, cursor=page["next_cursor"])["memories"] != page["memories"]


@pytest.mark.parametrize("field", ["namespace", "agent", "user_id", "session_id", "run_id", "memory_key"])
def test_a_field_of_a_delete_says_which_row(told: Any, field: str) -> None:
    assert {"org", "memory_key", *ELSEWHERE} == built("memory.delete")
    other = {**ELSEWHERE, "memory_key": "none"}[field]
    assert told("memory.delete", **{"memory_key": "k", field: other})["found"] is False
    assert told("memory.delete", memory_key="k")["found"] is True


@pytest.mark.parametrize(
    "fields",
    [
        {"language": "de"},
        {"retrieval_defaults": {"search_mode": "rrf"}},
        {"retrieval_defaults": {"top_k": 3}},
        {"retrieval_defaults": {"floor_mode": "drop"}},
    ],
)
def test_a_field_of_a_namespace_is_kept_for_that_namespace(told: Any, fields: Any) -> None:
    before = told("namespace.get", namespace="empty")
    told("namespace.set", namespace="empty", **fields)
    after, elsewhere = told("namespace.get", namespace="empty"), told("namespace.get", namespace="another")
    assert {**before, "updated_at": None} != {**after, "updated_at": None}
    assert {**before, "namespace": "another"} == elsewhere
