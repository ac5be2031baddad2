"""Reading by key and by page: the newest version decides, whoever asks and whenever."""

from __future__ import annotations

import pytest

from loom_server.service.services import Services
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.store import Statement
from spaces import Space


@pytest.fixture
def space(services: Services, org: str) -> Space:
    return Space(services, org)


def test_a_run_reads_no_version_that_another_run_has_replaced(space: Space) -> None:
    space.set("k", "old", run_id="one")
    space.set("k", "new", run_id="two")
    assert not space.get("k", run_id="one").found
    assert space.get("k", run_id="two").value == "new"
    assert [version.value for version in space.history("k", run_id="one").versions] == ["old"]


def test_a_run_reads_no_version_that_was_deleted(space: Space) -> None:
    space.set("k", "old", run_id="one")
    space.delete("k")
    assert not space.get("k", run_id="one").found


def test_a_run_changes_and_deletes_only_what_it_wrote(space: Space) -> None:
    space.set("k", "old", run_id="one")
    space.set("k", "new")
    assert space.update("k", tags=["t"], run_id="one").reason == "not_found"
    assert not space.delete("k", run_id="one").found
    assert space.update("k", tags=["t"], run_id="-").updated
    assert space.delete("k", run_id="-").tombstoned


def test_a_list_holds_a_key_once_while_its_version_before_is_still_marked_live(
    space: Space, store: EmbeddedStore, org: str
) -> None:
    space.fill({"a": 1, "b": 1, "c": 1})
    space.set("b", 2)
    # As between the commit of version 2 and the mark on version 1.
    sql = "UPDATE loom.memory SET status = 'live' WHERE org = {org:String} AND memory_key = 'b' AND version = 1"
    store.command(Statement("test.revive", sql, {"org": org}))
    first = space.list(limit=2)
    second = space.list(limit=2, cursor=first.next_cursor)
    pages = [(memory.memory_key, memory.value) for memory in (*first.memories, *second.memories)]
    assert pages == [("a", 1), ("b", 2), ("c", 1)]
    assert second.next_cursor is None
    assert space.list(count_only=True).count == 3
    assert space.list(count_only=True, include_superseded=True).count == 4
