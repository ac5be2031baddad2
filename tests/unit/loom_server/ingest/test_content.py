"""The text and the hash of a value."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from loom_server.ingest.content import json_text, plain_text, sha256_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it stands", "as it stands"),
        (3, "3"),
        (2.5, "2.5"),
        (True, "true"),
        (None, ""),
        ([], ""),
        (["a", 1, None], "a, 1, "),
        ({"b": "two", "a": "one"}, "a: one; b: two"),
        ({"who": {"name": "Ana", "tags": ["x", "y"]}}, "who: name: Ana; tags: x, y"),
    ],
)
def test_plain_text(value: JsonValue, text: str) -> None:
    assert plain_text(value) == text


def test_the_order_of_names_changes_nothing() -> None:
    assert json_text({"b": 1, "a": [2]}) == json_text({"a": [2], "b": 1}) == '{"a":[2],"b":1}'


def test_the_hash_is_of_the_json_form() -> None:
    # echo -n '"one"' | sha256sum
    assert sha256_of(json_text("one")) == "49e9fcfb5617aad332d56d58ffd0c7020d29ec1d0d0a03b7d7c47f268820acf3"
