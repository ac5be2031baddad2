"""Bounds of a request before it means anything: kind, size, nesting, numbers.

The size of a body is bounded while it is read, its nesting before it is validated. Whole numbers
beyond 64 bits are refused: read as JSON they would turn into rounded ones. What bounds a field
(query, `top_k`, items) is the services' own matter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, cast

import orjson
from starlette.requests import ClientDisconnect, Request

from loom_server.errors import Cancelled, InvalidInput, InvalidJson, TooLarge, UnsupportedMedia

Container = dict[str, object] | list[object]

_MANY_DIGITS = re.compile(rb"\d{19}")
_LEAST, _MOST = -(2**63), 2**64 - 1


async def read_json(request: Request, most_bytes: int) -> object:
    """The body as JSON. Raises `UnsupportedMedia`, `TooLarge`, `InvalidJson`, `Cancelled`."""
    _check_media(request)
    body = await _read_body(request, most_bytes)
    try:
        value = cast(object, orjson.loads(body))
    except orjson.JSONDecodeError as error:
        raise _unreadable(error) from None
    if _MANY_DIGITS.search(body):
        _check_numbers(body)
    return value


def _check_media(request: Request) -> None:
    # A page of another site can post text and forms here without asking first, but not JSON.
    kind, _, parameters = request.headers.get("content-type", "").lower().partition(";")
    charset = parameters.partition("charset=")[2].strip(' "')
    if kind.strip() != "application/json" or charset not in ("", "utf-8", "utf8"):
        raise UnsupportedMedia("Send JSON in UTF-8, with the header Content-Type: application/json.")
    if request.headers.get("content-encoding", "identity") != "identity":
        raise UnsupportedMedia("Send the body as it is, without Content-Encoding.")


async def _read_body(request: Request, most: int) -> bytes:
    told = request.headers.get("content-length", "")
    if told.isdecimal() and int(told) > most:
        raise _body_too_large(most)
    pieces: list[bytes] = []
    size = 0
    try:
        async for piece in request.stream():
            size += len(piece)
            if size > most:
                raise _body_too_large(most)
            pieces.append(piece)
    except ClientDisconnect:
        raise Cancelled("The caller went away before the request was read.") from None
    return b"".join(pieces)


def _body_too_large(most: int) -> TooLarge:
    return TooLarge(f"A body may have {most} bytes; send fewer items in one call.")


def _unreadable(error: orjson.JSONDecodeError) -> InvalidInput:
    if "depth limit" in error.msg:
        return TooLarge("The body is nested too deeply to be read.")
    return InvalidJson(f"The body is not JSON: {error.msg} (line {error.lineno}, column {error.colno}).")


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
    def bounded(digits: str) -> int:
        # The length is looked at first: turning a very long text of digits into a number is slow.
        if len(digits) > 21 or not _LEAST <= int(digits) <= _MOST:
            raise InvalidJson(f"The whole number {digits[:24]} has more than 64 bits; send it as text.")
        return 0

    json.loads(body, parse_int=bounded, parse_float=_ignored)


def _ignored(digits: str) -> Any:
    return 0
