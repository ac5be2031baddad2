"""A cursor is a place of its own list, or it is refused."""

from __future__ import annotations

import base64

import orjson
import pytest

from loom_client.wire import MemoryListRequest
from loom_server.errors import InvalidInput
from loom_server.service import cursors

REQUEST = MemoryListRequest(org="acme", prefix="a")
PLACE = ("a/b", "one", "", "s", 3)


def continued(cursor: str) -> MemoryListRequest:
    return REQUEST.model_copy(update={"cursor": cursor})


def made_of(*place: object) -> str:
    """A cursor of the request, with a place that nobody was served."""
    digest = orjson.loads(base64.urlsafe_b64decode(cursors.write(REQUEST, PLACE) + "=="))[0]
    return base64.urlsafe_b64encode(orjson.dumps([digest, *place])).decode().rstrip("=")


def test_a_cursor_leads_back_to_its_place() -> None:
    assert cursors.read(continued(cursors.write(REQUEST, PLACE))) == PLACE


@pytest.mark.parametrize("version", [-1, 2**32, 2**63, 1.0, True, "3", None])
def test_a_version_that_no_row_can_have_is_refused(version: object) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        cursors.read(continued(made_of(*PLACE[:4], version)))


@pytest.mark.parametrize("place", [(), (3,), ("a", "", "", 3), ("a", None, "", "", 3), ("a", "", "", "", 3, 4)])
def test_a_place_of_another_form_is_refused(place: tuple[object, ...]) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        cursors.read(continued(made_of(*place)))


@pytest.mark.parametrize("cursor", ["A", "!", "é", "bnVsbA", "W10", "e30", "MQ"])
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        cursors.read(continued(cursor))


def test_a_cursor_of_another_list_is_refused() -> None:
    cursor = cursors.write(REQUEST, PLACE)
    with pytest.raises(InvalidInput, match="continues another list"):
        cursors.read(MemoryListRequest(org="other", prefix="a", cursor=cursor))
