"""The wire models: what they hold, what they refuse and where they say so."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from pydantic import BaseModel, ValidationError

from doors import MINIMAL
from loom_client import wire
from loom_client.wire import memory, memory_read, words
from loom_client.wire.contracts import not_built, paths
from loom_client.wire.fields import read_moment
from loom_server.analysis.stems import LANGUAGES
from loom_server.model import memory as stored
from loom_server.model import query, verdict

SEARCH_FIELDS = """
org namespace namespaces agent user_id session_id session_ids run_id scope namespace_scope read_scope query memory_type
tags entity_filter category quality_filter as_of observation_date timezone tags_any tags_all tags_none source_class
created_after created_before valid_from valid_to metadata search_mode recipe retrieval_budget legs leg_weights alpha
rrf_k rrf_adaptive_lexical candidates hyde rerank rerank_candidates rerank_top_n rerank_timeout_ms diversity timeout_ms
tags_soft tag_boost category_soft category_boost confidence_weight prior_cap reinforcement_weight sensitivity_penalty
demote_tags personalization top_k include_top_n_unmatched include_tags include_usage include_duplicates
include_superseded include_proposed exclude_keys min_similarity floor_mode page bodies body_budget_tokens
source_span_chars auto_touch explain render
"""
SET_FIELDS = """
org namespace agent user_id session_id run_id memory_key value memory_type canonical summary metadata language tags
category entities relations confidence source_class attested source_trace source_resource_id sensitivity ttl_seconds
valid_at valid_to pinned if_match_sha256 dry_run proposed
"""

VALUES: dict[str, Any] = {
    "relations": [["ada", "wrote", "notes"]],
    "language": "en",
    "recipe": "fast",
    "retrieval_budget": "deep",
    "read_scope": "org",
    "bodies": "full",
    "render": "reader",
    "personalization": "none",
    "hyde": False,
    "rerank": "",
    "rerank_candidates": 50,
    "rerank_top_n": 5,
    "rerank_timeout_ms": 100,
    "include_top_n_unmatched": 3,
    "body_budget_tokens": 100,
    "source_span_chars": 100,
    "namespaces": ["a"],
    "entity_filter": ["Ada"],
    "demote_tags": ["old"],
    "observation_date": "2026-01-01",
    "as_of": "2026-01-01",
    "timezone": "Europe/Berlin",
    "namespace_scope": "a*",
    "rerank_endpoint": "mine",
}
"""A good value for a field that is not built; a number or a truth value where none stands here."""

NOT_BUILT = [(name, path) for name, contract in wire.CONTRACTS.items() for path, _ in not_built(contract.request)]


def errors(model: type[BaseModel], fields: dict[str, Any]) -> list[tuple[tuple[int | str, ...], str, str]]:
    """Place, kind and message of what the model refuses."""
    with pytest.raises(ValidationError) as refused:
        model.model_validate(fields)
    return [(one["loc"], one["type"], one["msg"]) for one in refused.value.errors()]


def with_field(name: str, path: str, value: Any) -> dict[str, Any]:
    """The smallest request of an operation, with one more field."""
    fields = copy.deepcopy(MINIMAL[name])
    place: Any = fields
    *parents, leaf = path.split(".")
    for parent in parents:
        place = place[parent][0] if isinstance(place[parent], list) else place[parent]
    place[leaf] = value
    return fields


def good(path: str) -> Any:
    leaf = path.rpartition(".")[2]
    floats = {"tag_boost", "category_boost", "confidence_weight", "prior_cap", "reinforcement_weight", "diversity"}
    return VALUES.get(leaf, 0.5 if leaf in floats | {"sensitivity_penalty"} else True)


@pytest.mark.parametrize(("model", "fields"), [("memory.search", SEARCH_FIELDS), ("memory.set", SET_FIELDS)])
def test_a_request_has_the_fields_of_the_wire(model: str, fields: str) -> None:
    assert set(wire.CONTRACTS[model].request.model_fields) == set(fields.split())


def test_every_field_is_described() -> None:
    models = {one for contract in wire.CONTRACTS.values() for one in (contract.request, contract.response)}
    models |= {wire.Hit, wire.StoredMemory, wire.MemoryItem, wire.RetrievalDefaults, wire.Problem}
    bare = [
        f"{one.__name__}.{name}" for one in models for name, info in one.model_fields.items() if not info.description
    ]
    assert bare == []


@pytest.mark.parametrize("name", wire.CONTRACTS)
def test_the_smallest_request_is_valid_and_an_unknown_field_is_not(name: str) -> None:
    request = wire.CONTRACTS[name].request
    request.model_validate(MINIMAL[name])
    assert errors(request, {**MINIMAL[name], "colour": 1})[0][:2] == (("colour",), "extra_forbidden")


@pytest.mark.parametrize(("name", "path"), NOT_BUILT)
def test_a_field_that_is_not_built_is_refused_where_it_stands(name: str, path: str) -> None:
    request = wire.CONTRACTS[name].request
    found = errors(request, with_field(name, path, good(path)))
    assert [(".".join(str(part) for part in place if part != 0), kind) for place, kind, _ in found] == [
        (path, "not_supported")
    ]
    assert found[0][2].startswith("is not built yet; ")


@pytest.mark.parametrize(("name", "path"), NOT_BUILT)
def test_null_leaves_a_field_that_is_not_built_out(name: str, path: str) -> None:
    wire.CONTRACTS[name].request.model_validate(with_field(name, path, None))


def test_the_fields_that_are_not_built_are_known_to_be_so() -> None:
    assert ("memory.search", "recipe") in NOT_BUILT
    assert ("memory.set_many", "items.relations") in NOT_BUILT
    assert ("namespace.set", "retrieval_defaults.rerank_endpoint") in NOT_BUILT
    assert ("memory.search", "search_mode") not in NOT_BUILT


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"search_mode": "graph"}, ("search_mode",)),
        ({"legs": ["fact", "chunk"]}, ("legs", 1)),
        ({"leg_weights": {"entity": 1.0}}, ("leg_weights", "entity", "[key]")),
        ({"candidates": {"digest": 5}}, ("candidates", "digest", "[key]")),
    ],
)
def test_a_known_value_that_is_not_built_names_those_that_are(fields: dict[str, Any], place: tuple[Any, ...]) -> None:
    found = errors(wire.MemorySearchRequest, {"query": "q", **fields})
    assert [(where, kind) for where, kind, _ in found] == [(place, "not_supported")]
    assert "use one of " in found[0][2]


def test_an_unknown_mode_is_a_wrong_value() -> None:
    message = "must be one of semantic, rrf, hybrid, bm25_hybrid, lexical"
    assert errors(wire.MemorySearchRequest, {"query": "q", "search_mode": "magic"}) == [
        (("search_mode",), "choice", message)
    ]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (wire.BUILT_MODES, get_args(query.SearchMode)),
        (get_args(words.FloorMode), get_args(query.FloorMode)),
        (get_args(words.MemoryType), get_args(stored.MemoryType)),
        (get_args(words.SourceClass), get_args(stored.SourceClass)),
        (get_args(words.Sensitivity), get_args(stored.Sensitivity)),
        (get_args(words.Status), get_args(stored.Status)),
        (get_args(words.AbstainCode), get_args(verdict.AbstainCode)),
        (get_args(words.Risk), get_args(verdict.Risk)),
        (get_args(words.Language), tuple(sorted(LANGUAGES))),
    ],
)
def test_the_wire_and_the_stages_know_the_same_words(ours: tuple[str, ...], theirs: tuple[str, ...]) -> None:
    assert ours == theirs


@pytest.mark.parametrize("name", ["local", "team/eu", "ops@example.org", "a" * 128, "Zoë", "नमस्ते", "日本", "x-1_2.3:4"])
def test_a_name_may_be(name: str) -> None:
    assert wire.NamespaceGetRequest(namespace=name).namespace == name


@pytest.mark.parametrize("name", ["", "-", "a b", "a*", "a'b", 'a"', "a" * 129, "a\n", "a\x00", "a;b", "a\u200bb"])
def test_a_name_may_not_be(name: str) -> None:
    found = errors(wire.NamespaceGetRequest, {"namespace": name})
    assert found[0][0] == ("namespace",)
    assert "must have 1 to 128 letters" in found[0][2]


def test_none_is_a_writer_and_no_tenant() -> None:
    assert wire.MemorySearchRequest(query="q", user_id="-").user_id == "-"
    assert errors(wire.MemorySearchRequest, {"query": "q", "org": "-"})[0][0] == ("org",)


@pytest.mark.parametrize("key", ["k", "team/ada: tea", "a" * 512, "日"])
def test_a_key_may_be(key: str) -> None:
    assert wire.MemoryGetRequest(memory_key=key).memory_key == key


@pytest.mark.parametrize("key", ["", "a" * 513, "a\tb", "a\x7f", "\x85"])
def test_a_key_may_not_be(key: str) -> None:
    assert "1 to 512 characters and no control characters" in errors(wire.MemoryGetRequest, {"memory_key": key})[0][2]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-05-01T09:30:00Z", datetime(2026, 5, 1, 9, 30, tzinfo=UTC)),
        ("2026-05-01T09:30:00+02:00", datetime(2026, 5, 1, 7, 30, tzinfo=UTC)),
        ("2026-05-01T09:30:00.250", datetime(2026, 5, 1, 9, 30, 0, 250_000, tzinfo=UTC)),
        ("2026-05-01", datetime(2026, 5, 1, tzinfo=UTC)),
    ],
)
def test_a_time_is_read_in_utc(text: str, moment: datetime) -> None:
    assert read_moment(text) == moment
    assert read_moment(text).tzinfo is UTC


@pytest.mark.parametrize("value", ["soon", "", "1900-12-31", "2299-01-01", "9999-12-31T23:59:59-10:00", 12, "2" * 60])
def test_a_time_is_not(value: object) -> None:
    found = errors(wire.MemoryGetRequest, {"memory_key": "k", "as_of": value})
    assert found[0][:2] == (("as_of",), "moment")


@pytest.mark.parametrize(
    ("fields", "path", "part"),
    [
        ({"scope": "agent"}, "agent", "required by scope 'agent'"),
        ({"scope": "user"}, "user_id", "required by scope 'user'"),
        ({"scope": "session"}, "session_id", "required by scope 'session'"),
        ({"session_id": "a", "session_ids": ["b"]}, "session_ids", "leave one of them out"),
        ({"tags": ["a"], "tags_any": ["b"]}, "tags", "the same filter"),
        ({"created_after": "2026-02-01", "created_before": "2026-01-01"}, "created_before", "lies before"),
        ({"valid_from": "2026-02-01", "valid_to": "2026-01-01"}, "valid_to", "lies before"),
    ],
)
def test_fields_that_contradict_each_other_are_told_at_the_one_to_mend(
    fields: dict[str, Any], path: str, part: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        wire.MemorySearchRequest.model_validate({"query": "q", **fields})
    error = refused.value.errors()[0]
    assert error.get("ctx", {})["path"] == path
    assert part in error["msg"]


@pytest.mark.parametrize(
    "fields",
    [
        {"scope": "agent", "agent": "a"},
        {"scope": "user", "user_id": "-"},
        {"scope": "session", "session_ids": ["a", "b"]},
        {"source_class": "asserted"},
        {"source_class": ["asserted", "imported"]},
        {"explain": None, "top_k": None, "rrf_adaptive_lexical": None},
    ],
)
def test_a_search_may_ask(fields: dict[str, Any]) -> None:
    wire.MemorySearchRequest.model_validate({"query": "q", **fields})


@pytest.mark.parametrize("value", [{"top_k": "5"}, {"top_k": 5.0}, {"top_k": True}, {"explain": 1}, {"query": 5}])
def test_no_value_is_read_as_another_kind(value: dict[str, Any]) -> None:
    assert errors(wire.MemorySearchRequest, {"query": "q", **value})


@pytest.mark.parametrize("value", [None, 0, 1.5, "", "text", [1, [2]], {"a": {"b": None}}, True])
def test_a_value_is_any_json(value: Any) -> None:
    assert wire.MemorySetRequest.model_validate({"memory_key": "k", "value": value}).value == value


def test_a_value_must_be_there() -> None:
    assert errors(wire.MemorySetRequest, {"memory_key": "k"}) == [(("value",), "missing", "Field required")]


def test_an_update_holds_what_was_given_and_null_may_be_given() -> None:
    request = wire.MemoryUpdateRequest.model_validate(
        {"memory_key": "k", "value": None, "summary": None, "tags": ["a"], "user_id": "u", "dry_run": True}
    )
    assert request.changes() == {"value": None, "summary": None, "tags": ["a"]}


@pytest.mark.parametrize("fields", [{}, {"user_id": "u"}, {"dry_run": True}, {"if_match_sha256": "0" * 64}])
def test_an_update_changes_something(fields: dict[str, Any]) -> None:
    assert "is required" in errors(wire.MemoryUpdateRequest, {"memory_key": "k", **fields})[0][2]


def test_an_update_may_change_all_that_a_write_may_say() -> None:
    writable = set(wire.MemorySetRequest.model_fields) - set(wire.Writer.model_fields)
    built = writable - {path for name, path in NOT_BUILT if name == "memory.set"}
    assert set(memory.CHANGEABLE) == built - {"memory_key", "if_match_sha256", "dry_run"}


def test_validity_does_not_end_before_it_begins() -> None:
    fields = {"memory_key": "k", "value": 1, "valid_at": "2026-02-01", "valid_to": "2026-01-01"}
    assert "must not lie before valid_at" in errors(wire.MemorySetRequest, fields)[0][2]


def test_an_item_takes_its_writer_from_the_request_where_it_names_none() -> None:
    many = wire.MemorySetManyRequest.model_validate(
        {
            "org": "o",
            "namespace": "n",
            "agent": "a",
            "user_id": "u",
            "dry_run": True,
            "items": [{"memory_key": "k", "value": 1}, {"memory_key": "l", "value": 2, "user_id": "w", "tags": ["t"]}],
        }
    )
    first, second = many.requests()
    same = {"org": "o", "namespace": "n", "agent": "a", "dry_run": True}
    assert first == wire.MemorySetRequest.model_validate({**same, "user_id": "u", "memory_key": "k", "value": 1})
    assert second == wire.MemorySetRequest.model_validate(
        {**same, "user_id": "w", "memory_key": "l", "value": 2, "tags": ["t"]}
    )
    assert second.session_id is None
    assert second.memory_type == "fact"


def test_a_found_memory_is_answered_with_all_its_fields() -> None:
    own = set(wire.StoredMemory.model_fields)
    assert set(memory_read.MemoryGetResponse.model_fields) == own | {"found", "unchanged"}


def test_an_answer_sends_what_was_set_and_no_more() -> None:
    assert wire.MemoryGetResponse(found=False).json_bytes() == b'{"found":false}'
    assert wire.MemoryGetResponse(found=True, value=None).json_bytes() == b'{"found":true,"value":null}'
    assert wire.MemoryUpdateResponse(updated=False, reason="not_found").plain() == {
        "updated": False,
        "reason": "not_found",
    }


def test_an_answer_is_read_back_and_what_a_newer_service_adds_is_passed_over() -> None:
    at = datetime(2026, 5, 1, tzinfo=UTC)
    answer = wire.NamespaceResponse(
        org="o",
        namespace="n",
        retrieval_defaults=wire.StoredDefaults(search_mode="rrf", top_k=None, floor_mode=None),
        language="en",
        embedding_model=None,
        updated_at=at,
    )
    assert wire.NamespaceResponse.model_validate_json(answer.json_bytes()) == answer
    assert b'"updated_at":"2026-05-01T00:00:00Z"' in answer.json_bytes()
    newer = answer.plain() | {"timezone": "UTC"}
    assert wire.NamespaceResponse.model_validate(newer) == answer


@pytest.mark.parametrize("name", wire.CONTRACTS)
def test_the_capabilities_tell_each_field_once(name: str) -> None:
    told = wire.capabilities("1", "m", {"top_k": 200}).operations[name]
    assert sorted([*told.fields, *told.not_built]) == sorted(paths(wire.CONTRACTS[name].request))
    assert set(told.required) == {field for field in MINIMAL[name] if field != "value" or name == "memory.set"} - {
        "retrieval_defaults"
    }


def test_the_capabilities_say_what_is_built() -> None:
    told = wire.capabilities("1", "m", {"top_k": 200}).plain()
    search = told["operations"]["memory.search"]
    assert {"query", "top_k", "explain", "quality_filter"} <= set(search["fields"])
    assert search["not_built"]["hyde"] == "the query is searched as it stands"
    assert told["search_modes"] == ["semantic", "rrf", "hybrid", "bm25_hybrid", "lexical"]
    assert told["legs"] == ["fact", "lexical", "bm25"]
    assert told["operations"]["memory.set"]["access"] == "write"
    assert told["limits"] == {"top_k": 200}
