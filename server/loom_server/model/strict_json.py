"""JSON as every door reads it: in requests, on the command line, in files.

    whole number     from -2^63 to 2^64 - 1; a longer one would turn into a rounded one, and is refused
    nesting          objects and lists inside each other, counted without recursion

What is no JSON at all raises the parser's own error, since each door has its own way to tell the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import cast

import orjson

from loom_server.errors import InvalidJson, TooLarge

Container = dict[str, object] | list[object]

_MANY_DIGITS = re.compile(rb"\d{19}")
_TEXT_OR_NUMBER = re.compile(rb'"(?:[^"\\]++|\\.)*+"|-?\d[\d.eE+-]*')
_LONGEST = 21
_LEAST, _MOST = -(2**63), 2**64 - 1


def load(text: bytes | str) -> object:
    """The value. Raises `orjson.JSONDecodeError`, and `InvalidJson` for a whole number of more than 64 bits."""
    value = cast(object, orjson.loads(text))
    body = text.encode() if isinstance(text, str) else text
    if _MANY_DIGITS.search(body):
        _check_numbers(body)
    return value


def check_nesting(value: object, most: int) -> None:
    """Refuse objects and lists inside each other more than `most` deep."""
    level = _containers([value])
    for _ in range(most):
        if not level:
            return
        level = [child for parent in level for child in _containers(_children(parent))]
    if level:
        raise TooLarge(f"The request is nested deeper than {most} levels.")


def _containers(values: Iterable[object]) -> list[Container]:
    return [cast("Container", value) for value in values if isinstance(value, dict | list)]


def _children(parent: Container) -> Iterable[object]:
    return parent.values() if isinstance(parent, dict) else parent


def _check_numbers(body: bytes) -> None:
    for found in _TEXT_OR_NUMBER.finditer(body):
        digits = found[0]
        # The length is looked at first: turning a very long text of digits into a number is slow.
        if digits.lstrip(b"-").isdigit() and (len(digits) > _LONGEST or not _LEAST <= int(digits) <= _MOST):
            raise InvalidJson(f"The whole number {digits[:24].decode()} has more than 64 bits; send it as text.")
