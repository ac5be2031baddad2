"""Cursors of lists and searches: a place, bound to the request that it continues.

    list      base64(json([digest of the other fields, key, agent, user, session, version]))
    search    base64(json([digest of the other fields, offset, served, newest, refilled]))

Opaque to callers, and no secret: the scope of the next page comes from its own request, never from the cursor. Fields
that change what a page shows and not what is listed or ranked, such as its size, may differ from page to page.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from typing import cast

import orjson

from loom_client import wire
from loom_server.engine.browse import Place
from loom_server.engine.pages import DIGEST_CHARS as SERVED_CHARS
from loom_server.errors import InvalidInput
from loom_server.model.page import Page

DIGEST_CHARS = 12
_PLACE_FIELDS = 6
_LAST_VERSION = 2**32 - 1
_LAST_ROW = 2**64 - 1
_MOST_RANKED = 2**31 - 1
_OF_A_LIST = frozenset({"cursor", "limit"})
_OF_A_SEARCH = frozenset({"page", "top_k", "timeout_ms", "explain", "include_tags"})


def write(request: wire.MemoryListRequest, place: Place) -> str:
    """The cursor that continues `request` after `place`."""
    return _text([_digest(request, _OF_A_LIST), *place])


def read(request: wire.MemoryListRequest) -> Place:
    """The place in the request's cursor. Raises `InvalidInput` where it is of another request."""
    parts = _parts("cursor", request.cursor or "")
    if not _is_place(parts) or parts[0] != _digest(request, _OF_A_LIST):
        raise InvalidInput.field("cursor", "continues another list; repeat its other fields, or start without one")
    return cast(Place, tuple(parts[1:]))


def write_page(request: wire.MemorySearchRequest, page: Page) -> str:
    """The cursor of a later page of `request`."""
    return _text([_digest(request, _OF_A_SEARCH), page.offset, page.served, page.newest, int(page.refilled)])


def read_page(request: wire.MemorySearchRequest) -> Page:
    """The page that the request asks for. Raises `InvalidInput` where it is of another request."""
    match _parts("page", request.page or ""):
        case [str(digest), int(offset), str(served), int(newest), 0 | 1 as refilled] if (
            digest == _digest(request, _OF_A_SEARCH)
            and 0 < offset <= _MOST_RANKED
            and len(served) == SERVED_CHARS
            and 0 <= newest <= _LAST_ROW
        ):
            return Page(int(offset), served, int(newest), bool(refilled))
        case _:
            raise InvalidInput.field("page", "continues another search; repeat its other fields, or start without one")


def _text(parts: Sequence[object]) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def _parts(field: str, text: str) -> list[object]:
    """The parts of a cursor; none where it is JSON of another form. Raises `InvalidInput` where it is no JSON."""
    try:
        found = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, ValueError) as error:
        raise InvalidInput.field(field, "is not a cursor of this service; start without one") from error
    return cast("list[object]", found) if isinstance(found, list) else []


def _is_place(parts: list[object]) -> bool:
    *texts, version = parts or [None]
    named = [type(text) for text in texts] == [str] * (_PLACE_FIELDS - 1)
    return named and type(version) is int and 0 <= version <= _LAST_VERSION


def _digest(request: wire.Request, left_out: frozenset[str]) -> str:
    fields = request.model_dump(mode="json", exclude=set(left_out))
    return hashlib.sha256(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)).hexdigest()[:DIGEST_CHARS]
