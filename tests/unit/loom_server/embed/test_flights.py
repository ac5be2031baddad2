"""Flights: who works and who waits, and what a failure or a deadline of one means for the others."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from loom_server.embed.flights import Flights
from loom_server.errors import Cancelled, DeadlineExceeded, EmbedError
from loom_server.model.deadline import Deadline


class Held:
    """Work that waits for a word; the first `failing` times it fails."""

    def __init__(self, failing: int = 0) -> None:
        self.flights: Flights[str, str] = Flights()
        self.asked: list[str] = []
        self.begun = threading.Semaphore(0)
        self.go = threading.Event()
        self._failing = failing
        self._lock = threading.Lock()

    def make(self, keys: Sequence[str]) -> Mapping[str, str]:
        with self._lock:
            self.asked += keys
            self._failing -= 1
            fails = self._failing >= 0
        self.begun.release()
        assert self.go.wait(10)
        if fails:
            raise EmbedError("down")
        return {key: key.upper() for key in keys}

    def bring(self, keys: str, deadline: Deadline | None = None) -> dict[str, str]:
        return self.flights.bring(keys, self.make, deadline)


@pytest.fixture
def threads():
    with ThreadPoolExecutor(8) as executor:
        yield executor


def waiting(held: Held, key: str, number: int) -> None:
    """Return once so many wait for the flight of a key."""
    flight = cast(Any, held.flights._flying[key])
    for _ in range(2_000):
        if len(flight._done_callbacks) == number:
            return
        threading.Event().wait(0.005)
    raise AssertionError("nobody waits")


def both(held: Held, threads: ThreadPoolExecutor, *deadlines: Deadline | None):
    """A leader, and a follower with each deadline, all under way."""
    leader = threads.submit(held.bring, "a")
    assert held.begun.acquire(timeout=10)
    followers = [threads.submit(held.bring, "a", deadline) for deadline in deadlines]
    waiting(held, "a", len(deadlines))
    return leader, followers


def test_what_is_under_way_is_waited_for(threads: ThreadPoolExecutor) -> None:
    held = Held()
    leader, followers = both(held, threads, None, Deadline(60), None)
    held.go.set()
    assert [one.result(10) for one in (leader, *followers)] == [{"a": "A"}] * 4
    assert held.asked == ["a"]
    assert held.bring("a") == {"a": "A"}
    assert held.asked == ["a", "a"]


def test_keys_are_shared_one_by_one(threads: ThreadPoolExecutor) -> None:
    held = Held()
    first = threads.submit(held.bring, "ab")
    assert held.begun.acquire(timeout=10)
    second = threads.submit(held.bring, "bca")
    assert held.begun.acquire(timeout=10)
    held.go.set()
    assert first.result(10) == {"a": "A", "b": "B"}
    assert second.result(10) == {"a": "A", "b": "B", "c": "C"}
    assert held.asked == ["a", "b", "c"]


def test_two_that_want_each_others_keys_do_not_wait_for_each_other(threads: ThreadPoolExecutor) -> None:
    held = Held()
    held.go.set()
    wanted = ["abcd", "dcba"] * 20
    assert list(threads.map(held.bring, wanted)) == [{key: key.upper() for key in keys} for keys in wanted]


def test_a_failure_is_the_first_ones_alone(threads: ThreadPoolExecutor) -> None:
    held = Held(failing=1)
    leader, followers = both(held, threads, None, None)
    held.go.set()
    with pytest.raises(EmbedError, match="down"):
        leader.result(10)
    assert [one.result(10) for one in followers] == [{"a": "A"}] * 2
    assert held.asked == ["a"] * 3


def test_nobody_tries_twice_for_a_key_that_keeps_failing(threads: ThreadPoolExecutor) -> None:
    held = Held(failing=100)
    leader, followers = both(held, threads, None, None)
    held.go.set()
    for one in (leader, *followers):
        with pytest.raises(EmbedError, match="down"):
            one.result(10)
    assert held.asked == ["a"] * 3
    assert held.flights._flying == {}


def test_one_that_waits_too_long_works_itself(threads: ThreadPoolExecutor) -> None:
    held = Held()
    leader, (follower,) = both(held, threads, Deadline(1.0))
    assert held.begun.acquire(timeout=10)
    held.go.set()
    assert follower.result(10) == leader.result(10) == {"a": "A"}
    assert held.asked == ["a", "a"]


def test_one_that_goes_away_is_let_go(threads: ThreadPoolExecutor) -> None:
    held = Held()
    deadline = Deadline(60)
    leader, (follower,) = both(held, threads, deadline)
    deadline.cancel()
    with pytest.raises(Cancelled):
        follower.result(10)
    held.go.set()
    assert leader.result(10) == {"a": "A"}
    assert held.asked == ["a"]


def test_a_deadline_that_is_over_is_told(threads: ThreadPoolExecutor) -> None:
    held = Held()
    leader = threads.submit(held.bring, "a")
    assert held.begun.acquire(timeout=10)
    with pytest.raises(DeadlineExceeded):
        held.bring("a", Deadline(0.0))
    held.go.set()
    assert leader.result(10) == {"a": "A"}
