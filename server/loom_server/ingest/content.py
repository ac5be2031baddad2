"""The text of a value: what is searched, embedded and shown as an excerpt.

A string is itself. An object is `name: value` parts joined by `; `, a list its items joined
by `, `, so that braces and quotes weigh nothing in a vector. The stored value stays JSON.
"""

from __future__ import annotations

import hashlib

import orjson
from pydantic import JsonValue


def plain_text(value: JsonValue) -> str:
    """The value as plain text; the parts of an object stand in the order of their names, as in `json_text`."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "; ".join(f"{name}: {plain_text(part)}" for name, part in sorted(value.items()))
    if isinstance(value, list):
        return ", ".join(map(plain_text, value))
    return "" if value is None else str(value)


def json_text(value: JsonValue) -> str:
    """The one JSON form of a value: keys sorted, no spaces."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def sha256_of(value: str) -> str:
    """The hash of a value's JSON form, in hexadecimal."""
    return hashlib.sha256(value.encode()).hexdigest()
