"""Nesting, counted."""

from __future__ import annotations

from typing import Any

import pytest

from loom_server.api.limits import check_nesting
from loom_server.errors import TooLarge


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
