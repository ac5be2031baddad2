"""Bounds of an HTTP request before it means anything: headers, kind, size, and that it is JSON.

The size of a body is bounded while it is read; its nesting is the call's matter, and what bounds a
field (query, `top_k`, items) the services' own.
"""

from __future__ import annotations

import re

import orjson
from starlette.requests import ClientDisconnect, Request

from loom_server.errors import Cancelled, InvalidInput, InvalidJson, TooLarge, UnsupportedMedia
from loom_server.model import strict_json
from loom_server.service.once import IDEMPOTENCY

KEY_CHARS = 255
_KEY = re.compile(rf"[!-~]{{1,{KEY_CHARS}}}")


async def read_json(request: Request, most_bytes: int) -> object:
    """The body as JSON. Raises `UnsupportedMedia`, `TooLarge`, `InvalidJson`, `Cancelled`."""
    _check_headers(request)
    body = await _read_body(request, most_bytes)
    try:
        return strict_json.load(body)
    except orjson.JSONDecodeError as error:
        raise _unreadable(error) from None


def key_of(request: Request) -> str:
    """The request's Idempotency-Key, empty where it has none. Raises `InvalidInput`."""
    given = request.headers.getlist(IDEMPOTENCY)
    if len(given) > 1 or not all(map(_KEY.fullmatch, given)):
        raise InvalidInput.field(IDEMPOTENCY, f"may be given once, as 1 to {KEY_CHARS} visible ASCII characters")
    return given[0] if given else ""


def check_size(size: int, most: int) -> None:
    """Refuse a body of more than `most` bytes."""
    if size > most:
        raise TooLarge(f"A body may have {most} bytes; send fewer items in one call.")


def _check_headers(request: Request) -> None:
    # A page of another site can post text and forms here without asking first, but not JSON.
    kind, _, parameters = request.headers.get("content-type", "").lower().partition(";")
    charset = parameters.partition("charset=")[2].strip(' "')
    if kind.strip() != "application/json" or charset not in ("", "utf-8", "utf8"):
        raise UnsupportedMedia("Send JSON in UTF-8, with the header Content-Type: application/json.")
    if request.headers.get("content-encoding", "identity") != "identity":
        raise UnsupportedMedia("Send the body as it is, without Content-Encoding.")


async def _read_body(request: Request, most: int) -> bytes:
    told = request.headers.get("content-length", "")
    check_size(int(told) if told.isdecimal() else 0, most)
    pieces: list[bytes] = []
    size = 0
    try:
        async for piece in request.stream():
            size += len(piece)
            check_size(size, most)
            pieces.append(piece)
    except ClientDisconnect:
        raise Cancelled("The caller went away before the request was read.") from None
    return b"".join(pieces)


def _unreadable(error: orjson.JSONDecodeError) -> InvalidInput:
    if "depth limit" in error.msg:
        return TooLarge("The body is nested too deeply to be read.")
    return InvalidJson(f"The body is not JSON: {error.msg} (line {error.lineno}, column {error.colno}).")
