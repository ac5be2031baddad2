"""The cursor of a list: the place of the last row served, bound to the request it continues.

    base64(json([digest of the other fields, key, agent, user, session, version]))

Opaque to callers, and no secret: the scope of the next page comes from its own request,
never from the cursor.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import cast

import orjson

from loom_client import wire
from loom_server.engine.browse import Place
from loom_server.errors import InvalidInput

DIGEST_CHARS = 12
_PLACE_FIELDS = 6
_LAST_VERSION = 2**32 - 1


def write(request: wire.MemoryListRequest, place: Place) -> str:
    """The cursor that continues `request` after `place`."""
    return base64.urlsafe_b64encode(orjson.dumps([_digest(request), *place])).decode().rstrip("=")


def read(request: wire.MemoryListRequest) -> Place:
    """The place in the request's cursor. Raises `InvalidInput` where it is of another request."""
    text = request.cursor or ""
    try:
        parts = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, ValueError) as error:
        raise InvalidInput.field("cursor", "is not a cursor of this service; start without one") from error
    if not _is_place(parts) or parts[0] != _digest(request):
        raise InvalidInput.field("cursor", "continues another list; repeat its other fields, or start without one")
    return cast(Place, tuple(parts[1:]))


def _is_place(parts: object) -> bool:
    if not isinstance(parts, list):
        return False
    *texts, version = cast("list[object]", parts) or [None]
    named = [type(text) for text in texts] == [str] * (_PLACE_FIELDS - 1)
    return named and type(version) is int and 0 <= version <= _LAST_VERSION


def _digest(request: wire.MemoryListRequest) -> str:
    fields = request.model_dump_json(exclude={"cursor", "limit"})
    return hashlib.sha256(fields.encode()).hexdigest()[:DIGEST_CHARS]
