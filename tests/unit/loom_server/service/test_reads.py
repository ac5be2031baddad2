"""A memory whose time to live is over, as every operation by key sees it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from loom_server.errors import Conflict
from loom_server.service.open import assemble
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from spaces import Space
from writing import HASH, SetClock


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def space(store: EmbeddedStore, org: str, clock: SetClock) -> Iterator[Space]:
    """A service whose clock the test moves; `short` lives for ten seconds, `long` for ever."""
    services = assemble(store, HASH, Settings(), clock)
    filled = Space(services, org)
    filled.set("short", 1, ttl_seconds=10, agent="one")
    filled.set("long", 2)
    yield filled
    services.writer.close()
    services.searcher.executor.shutdown()


def listed(space: Space, **fields: object) -> list[str]:
    """The keys of a list, which are as many as it counts."""
    keys = [memory.memory_key for memory in space.list(**fields).memories]
    assert space.list(count_only=True, **fields).count == len(keys)
    return keys


@pytest.mark.parametrize(("seconds", "there"), [(9.999, True), (10, False), (1_000, False)])
def test_neither_get_nor_list_shows_it(space: Space, clock: SetClock, seconds: float, there: bool) -> None:
    clock.move(seconds)
    assert space.get("short").found is there
    assert space.get("short", if_version=1).found is there
    assert listed(space) == (["long", "short"] if there else ["long"])
    assert listed(space, include_superseded=True) == listed(space)
    assert space.history("short").found


def test_get_as_of_a_time_before_its_end_shows_it(space: Space, clock: SetClock) -> None:
    before, after = clock.now() + timedelta(seconds=9), clock.now() + timedelta(seconds=11)
    clock.move(1_000)
    assert space.get("short", as_of=before.isoformat()).value == 1
    assert not space.get("short", as_of=after.isoformat()).found


def test_it_does_not_come_back_as_the_version_before_it(space: Space, clock: SetClock) -> None:
    space.set("long", 3, ttl_seconds=10)
    clock.move(10)
    assert not space.get("long").found
    assert listed(space) == []
    assert listed(space, include_superseded=True) == ["long"]


def test_an_update_does_not_find_it_and_a_set_writes_anew(space: Space, clock: SetClock) -> None:
    clock.move(10)
    told = space.update("short", value=5)
    assert (told.updated, told.reason) == (False, "not_found")
    assert space.set("short", 1, agent="one").version == 2
    assert space.get("short").value == 1


def test_it_makes_no_key_ambiguous_for_an_update(space: Space, clock: SetClock) -> None:
    space.set("short", 7, agent="two")
    with pytest.raises(Conflict):
        space.update("short", value=8)
    clock.move(10)
    assert space.update("short", value=8).updated
    assert space.get("short", agent="two").value == 8


def test_a_delete_closes_it(space: Space, clock: SetClock) -> None:
    clock.move(10)
    assert space.delete("short").tombstoned
    assert not space.delete("short").found


def test_it_still_settles_the_language(space: Space, clock: SetClock) -> None:
    other = space.other(namespace="other")
    other.set("k", "here", ttl_seconds=10)
    clock.move(10)
    assert listed(other) == []
    with pytest.raises(Conflict, match="language"):
        other.prefer(language="de")
