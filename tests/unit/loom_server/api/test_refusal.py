"""Refusals: paths, sentences, hints and the choice of code."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from loom_client.wire import CONTRACTS
from loom_server.api.refusal import refusal
from loom_server.errors import InvalidInput, NotSupported


def refused(name: str, **fields: Any) -> InvalidInput:
    """What a caller of the operation is told."""
    contract = CONTRACTS[name]
    with pytest.raises(ValidationError) as error:
        contract.request.model_validate(fields)
    return refusal(contract, error.value)


@pytest.mark.parametrize(
    ("fields", "path", "message"),
    [
        ({}, "query", "is required"),
        ({"query": 1}, "query", "must be text"),
        ({"query": ""}, "query", "must not be empty"),
        ({"query": "q", "top_k": 0}, "top_k", "must be at least 1"),
        ({"query": "q", "top_k": 1.5}, "top_k", "must be a whole number"),
        ({"query": "q", "alpha": 2}, "alpha", "must be at most 1.0"),
        ({"query": "q", "alpha": "2"}, "alpha", "must be a number"),
        ({"query": "q", "include_tags": 1}, "include_tags", "must be true or false"),
        ({"query": "q", "tags": "a"}, "tags", "must be a list"),
        ({"query": "q", "tags": ["a", 1]}, "tags.1", "must be text"),
        ({"query": "q", "legs": []}, "legs", "must hold at least 1"),
        ({"query": "q", "metadata": []}, "metadata", "must be an object"),
        ({"query": "q", "candidates": {"fact": 0}}, "candidates.fact", "must be at least 1"),
        ({"query": "q", "candidates": {"facts": 1}}, "candidates.facts", "must be one of fact, lexical, bm25"),
        ({"query": "q", "floor_mode": "hide"}, "floor_mode", "must be one of 'readmit', 'ids_only' or 'drop'"),
        ({"query": "q", "scope": "user"}, "user_id", "is required by scope 'user'"),
        ({"query": "q", "topk": 1}, "topk", "is not a field of memory.search (did you mean top_k?)"),
        ({"query": "q", "colour": 1}, "colour", "is not a field of memory.search"),
    ],
)
def test_a_wrong_field_is_told_with_its_path(fields: dict[str, Any], path: str, message: str) -> None:
    error = refused("memory.search", **fields)
    assert [(one.path, one.message) for one in error.errors] == [(path, message)]
    assert error.message == f"memory.search: {path} {message}."
    assert error.code == "invalid_input"


def test_an_item_is_told_by_its_number() -> None:
    error = refused("memory.set_many", items=[{"memory_key": "k", "value": 1}, {"memory_key": "k"}])
    assert [(one.path, one.message) for one in error.errors] == [("items.1.value", "is required")]


def test_a_contradiction_inside_an_item_is_told_there() -> None:
    item = {"memory_key": "k", "value": 1, "valid_at": "2026-02-01", "valid_to": "2026-01-01"}
    error = refused("memory.set_many", items=[item])
    assert [one.path for one in error.errors] == ["items.0.valid_to"]


def test_only_features_that_are_not_built_make_it_not_supported() -> None:
    assert isinstance(refused("memory.search", query="q", recipe="fast", hyde=True), NotSupported)
    mixed = refused("memory.search", query="q", recipe="fast", top_k=0)
    assert not isinstance(mixed, NotSupported)
    assert {one.path for one in mixed.errors} == {"recipe", "top_k"}


def test_no_value_of_the_caller_is_repeated_whole() -> None:
    secret = "s" * 500
    error = refused("memory.search", query=[secret], search_mode=secret, floor_mode=secret, **{secret: secret})
    assert all(len(one.path) <= 200 for one in error.errors)
    assert all(secret not in one.message for one in error.errors)


def test_a_name_that_stands_elsewhere_in_the_request_is_told_with_its_path() -> None:
    (error,) = refused("namespace.set", top_k=5).errors
    assert error.message == "is not a field of namespace.set (did you mean retrieval_defaults.top_k?)"
