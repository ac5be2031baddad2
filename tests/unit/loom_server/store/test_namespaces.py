"""The newest row counts, whatever the clock does and whoever changes what meanwhile."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from loom_server.errors import InvalidInput
from loom_server.model.clock import RowIds
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.namespaces import Namespaces, Preferences
from loom_server.store.process import Process
from loom_server.store.store import Insert
from writing import SetClock


def german(before: Preferences) -> Preferences:
    return {**before, "language": "de"}


def french(before: Preferences) -> Preferences:
    return {**before, "language": "fr"}


@pytest.mark.parametrize("restarted", [False, True])
def test_a_clock_that_steps_back_loses_no_change(store: EmbeddedStore, org: str, restarted: bool) -> None:
    clock = SetClock()
    namespaces = Namespaces(store, Process(RowIds(clock)))
    namespaces.change(org, "n", german)
    clock.move(-5)
    if restarted:
        namespaces = Namespaces(store, Process(RowIds(clock)))
    for _ in range(2):
        assert namespaces.change(org, "n", french) == {"language": "fr"}
    assert Namespaces(store).preferences(org, "n") == {"language": "fr"}


def test_a_change_is_made_on_what_the_one_before_left(store: EmbeddedStore, org: str) -> None:
    namespaces = Namespaces(store)
    begun, go = threading.Event(), threading.Event()

    def slow(before: Preferences) -> Preferences:
        begun.set()
        assert go.wait(30)
        return {**before, "slow": 1}

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(namespaces.change, org, "n", slow)
        assert begun.wait(30)
        second = threads.submit(namespaces.change, org, "n", lambda before: {**before, "quick": 2})
        go.set()
        assert (first.result(30), second.result(30)) == ({"slow": 1}, {"slow": 1, "quick": 2})
    assert Namespaces(store).preferences(org, "n") == {"slow": 1, "quick": 2}


def test_a_change_that_is_refused_writes_nothing(store: EmbeddedStore, org: str) -> None:
    namespaces = Namespaces(store)
    namespaces.change(org, "n", german)

    def refused(before: Preferences) -> Preferences:
        before["language"] = "fr"
        raise InvalidInput("No.")

    with pytest.raises(InvalidInput):
        namespaces.change(org, "n", refused)
    assert namespaces.preferences(org, "n") == Namespaces(store).preferences(org, "n") == {"language": "de"}


class Held:
    """The store, whose inserts wait until they are let go."""

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store
        self.arrived, self.go = threading.Event(), threading.Event()

    def insert(self, insert: Insert) -> None:
        self.arrived.set()
        assert self.go.wait(30)
        self._store.insert(insert)

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)


def test_two_who_fix_a_model_at_once_are_told_the_same_one(store: EmbeddedStore, org: str) -> None:
    held = Held(store)
    namespaces = Namespaces(held)  # pyright: ignore[reportArgumentType]
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(namespaces.fix_model, org, "first")
        assert held.arrived.wait(30)
        second = threads.submit(namespaces.fix_model, org, "second")
        held.go.set()
        assert (first.result(30), second.result(30)) == ("first", "first")
    assert Namespaces(store).model_of(org) == "first"
    assert Namespaces(store).preferences(org, "n") == {}
