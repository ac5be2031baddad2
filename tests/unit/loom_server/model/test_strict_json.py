"""JSON of every door: nesting, counted; whole numbers, bounded; texts left alone."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_server.errors import InvalidJson, TooLarge
from loom_server.model.strict_json import check_nesting, load


@pytest.mark.parametrize(
    ("value", "depth"),
    [
        (1, 0),
        ("text", 0),
        ({}, 1),
        ([1, 2], 1),
        ({"a": 1, "b": [1]}, 2),
        ({"a": {"b": {"c": {}}}}, 4),
        ([[], [[]], [[[]]]], 4),
    ],
)
def test_a_value_is_as_deep_as_its_deepest_part(value: Any, depth: int) -> None:
    check_nesting(value, depth)
    if depth:
        with pytest.raises(TooLarge, match=f"deeper than {depth - 1} levels"):
            check_nesting(value, depth - 1)


@pytest.mark.parametrize("number", [2**64 - 1, -(2**63), 1e300, 12345678901234567.25, 1234567890123456789012e2, -0.0])
def test_a_number_that_can_be_kept_is_kept(number: float) -> None:
    text = json.dumps({"a": [number, "x"]})
    assert load(text) == load(text.encode()) == {"a": [number, "x"]}


@pytest.mark.parametrize("digits", ["18446744073709551616", "-9223372036854775809", "1" * 300])
@pytest.mark.parametrize("shape", ["{}", "[{}]", '{{"a\\"b": {}, "c": 1}}', '["\\\\",{}]', "[1.5,{},2]"])
def test_a_number_that_would_be_rounded_is_refused(digits: str, shape: str) -> None:
    for text in (shape.format(digits), shape.format(digits).encode()):
        with pytest.raises(InvalidJson, match="has more than 64 bits; send it as text"):
            load(text)


def test_a_number_is_found_however_deep_it_lies() -> None:
    with pytest.raises(InvalidJson, match="64 bits"):
        load("[" * 1_000 + "9" * 20 + "]" * 1_000)


LEAVES = st.text() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)


@given(st.recursive(LEAVES, st.lists, max_leaves=8))
def test_what_fits_is_read_as_it_was_written(value: Any) -> None:
    whole = ["9" * 40, '\\" 99999999999999999999', value]
    assert load(orjson.dumps(whole)) == whole


@given(st.integers(2**64) | st.integers(max_value=-(2**63) - 1), st.text())
def test_what_does_not_fit_is_refused_beside_any_text(number: int, text: str) -> None:
    with pytest.raises(InvalidJson):
        load(json.dumps([text, {text: number}]))


def test_what_is_no_json_raises_the_parsers_error() -> None:
    for junk in ("{", "NaN", '"\udcff"', "1" * 30 + "x"):
        with pytest.raises(orjson.JSONDecodeError):
            load(junk)
