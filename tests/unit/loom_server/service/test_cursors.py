"""A cursor is a place of its own list or search, or it is refused."""

from __future__ import annotations

import base64

import orjson
import pytest

from loom_client.wire import MemoryListRequest, MemorySearchRequest
from loom_server.errors import InvalidInput
from loom_server.model.page import Page
from loom_server.service import cursors

REQUEST = MemoryListRequest(org="acme", prefix="a")
PLACE = ("a/b", "one", "", "s", 3)
SEARCH = MemorySearchRequest(org="acme", query="q", leg_weights={"fact": 1.0, "bm25": 2.0}, top_k=5)
PAGE = Page(10, "0123456789abcdef", 2**63, True)


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


def turned(cursor: str, **fields: object) -> MemorySearchRequest:
    return SEARCH.model_copy(update={"page": cursor, **fields})


def page_made_of(*parts: object) -> str:
    """A cursor of the search, of a page that nobody was told."""
    digest = orjson.loads(base64.urlsafe_b64decode(cursors.write_page(SEARCH, PAGE) + "=="))[0]
    return base64.urlsafe_b64encode(orjson.dumps([digest, *parts])).decode().rstrip("=")


def test_a_cursor_leads_back_to_its_page() -> None:
    assert cursors.read_page(turned(cursors.write_page(SEARCH, PAGE))) == PAGE


@pytest.mark.parametrize(
    "fields",
    [{"top_k": None}, {"top_k": 9}, {"explain": True}, {"timeout_ms": 50}, {"include_tags": True},
     {"leg_weights": {"bm25": 2.0, "fact": 1.0}}],
)  # fmt: skip
def test_what_a_page_shows_may_differ(fields: dict[str, object]) -> None:
    assert cursors.read_page(turned(cursors.write_page(SEARCH, PAGE), **fields)) == PAGE


@pytest.mark.parametrize(
    "fields",
    [{"org": "other"}, {"query": "p"}, {"namespace": "n"}, {"leg_weights": {}}, {"floor_mode": "drop"},
     {"exclude_keys": ["k"]}, {"tags_any": ["t"]}, {"search_mode": "rrf"}],
)  # fmt: skip
def test_a_cursor_of_another_search_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="page: continues another search") as refused:
        cursors.read_page(turned(cursors.write_page(SEARCH, PAGE), **fields))
    assert [one.path for one in refused.value.errors] == ["page"]


@pytest.mark.parametrize(
    "parts",
    [
        (),
        (10,),
        (0, PAGE.served, 1, 0),
        (-1, PAGE.served, 1, 0),
        (2**40, PAGE.served, 1, 0),
        (1.5, PAGE.served, 1, 0),
        (1, "short", 1, 0),
        (1, 7, 1, 0),
        (1, PAGE.served, -1, 0),
        (1, PAGE.served, 1, 2),
        (1, PAGE.served, 1, 0, 0),
    ],
)
def test_a_page_of_another_form_is_refused(parts: tuple[object, ...]) -> None:
    with pytest.raises(InvalidInput, match="page"):
        cursors.read_page(turned(page_made_of(*parts)))


@pytest.mark.parametrize("cursor", ["A", "!", "é", "bnVsbA", "W10", "e30", "MQ"])
def test_what_is_no_cursor_of_a_search_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidInput, match="page"):
        cursors.read_page(turned(cursor))


def test_a_cursor_of_a_list_is_none_of_a_search() -> None:
    with pytest.raises(InvalidInput, match="page"):
        cursors.read_page(turned(cursors.write(REQUEST, PLACE)))


def test_the_longest_cursor_is_one_that_a_request_takes() -> None:
    longest = cursors.write_page(SEARCH, Page(2**31 - 1, "f" * 16, 2**64 - 1, True))
    assert MemorySearchRequest(query="q", page=longest).page == longest
