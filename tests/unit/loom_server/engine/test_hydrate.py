"""A face is the row itself, as far as a search shows it."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from loom_server.engine import browse
from loom_server.engine.hydrate import EXCERPT_CHARS, hydrate
from loom_server.model.deadline import Deadline
from loom_server.model.scope import Scope
from loom_server.service.services import Services
from spaces import Space

AWKWARD = 'it\'s "quoted", a \\ back\tslash,\nnul\0, Größe 尺寸 😀 \u2028 </script> [1, null]'
NOT_SHOWN = {
    "value": "",
    "content_sha256": "",
    "canonical": None,
    "summary": None,
    "metadata": "{}",
    "source_trace": "",
}


@pytest.fixture
def space(services: Services, org: str) -> Space:
    return Space(services, org)


def test_equals_the_whole_row_but_for_what_no_search_shows(space: Space, org: str) -> None:
    space.set(
        'it\'s a "key" \\ 尺寸 </script>',
        AWKWARD,
        tags=['a"b', "ü"],
        category="c/d",
        entities=["O'Neil", "東京"],
        confidence=0.1 + 0.2,
        source_class="imported",
        source_resource_id="res\\1",
        sensitivity="low",
        valid_at="1960-02-29T23:59:59.123Z",
        valid_to="2199-01-01T00:00:00Z",
        ttl_seconds=3600,
        agent="ag",
        user_id="us",
        session_id="se",
        run_id="ru",
    )
    space.set("plain", "a value with nothing else")
    store, scope = space.services.searcher.store, Scope(org, "local")
    for row in browse.page(store, scope, browse.Listing(limit=10), Deadline(30)):
        assert hydrate(store, scope, [row.id], Deadline(30)) == {row.id: replace(row, **NOT_SHOWN)}
    assert set(NOT_SHOWN) <= {field.name for field in fields(row)}


def test_a_long_text_is_cut_one_character_beyond_the_excerpt(space: Space, org: str) -> None:
    space.set("long", "ü" * (EXCERPT_CHARS + 50))
    store, scope = space.services.searcher.store, Scope(org, "local")
    (row,) = browse.page(store, scope, browse.Listing(limit=10), Deadline(30))
    assert hydrate(store, scope, [row.id], Deadline(30))[row.id].content == "ü" * (EXCERPT_CHARS + 1)


def test_a_row_of_another_scope_is_not_there(space: Space, org: str) -> None:
    row_id = int(space.set("k", "value").memory_id, 16)
    assert hydrate(space.services.searcher.store, Scope(org, "other"), [row_id], Deadline(30)) == {}
