"""Work on a key that is under way is waited for instead of done twice.

    the first to ask for a key    does the work, and tells those that came after
    the others                    wait for at most half of what is left of their deadline, once

Work that failed, or took longer, is done by each of the others itself: the first one's deadline or bad luck is not
theirs, and nobody waits a second time. Nobody waits before its own work is done, so two threads that want each
other's keys cannot wait for each other.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

from loom_server.model.deadline import Deadline

K = TypeVar("K")
V = TypeVar("V")

SHARE = 0.5


class Flights(Generic[K, V]):
    """The keys that are worked on now; safe from many threads."""

    def __init__(self) -> None:
        self._flying: dict[K, Future[Mapping[K, V]]] = {}
        self._lock = threading.Lock()

    def bring(
        self, keys: Collection[K], make: Callable[[Sequence[K]], Mapping[K, V]], deadline: Deadline | None = None
    ) -> dict[K, V]:
        """What `make` makes of each of the keys, which are distinct, by this thread or by one that began before.

        Raises what `make` raises, and `DeadlineExceeded` or `Cancelled` where the wait for another thread ends so.
        """
        flight: Future[Mapping[K, V]] = Future()
        mine, others = self._parted(keys, flight)
        brought: dict[K, V] = {}
        try:
            if mine:
                brought.update(make(mine))
        finally:
            self._land(mine, flight, dict(brought))
        if others:
            brought.update(_followed(others, deadline))
        left = [key for key in others if key not in brought]
        if left:
            brought.update(make(left))
        return brought

    def _parted(
        self, keys: Iterable[K], flight: Future[Mapping[K, V]]
    ) -> tuple[list[K], dict[K, Future[Mapping[K, V]]]]:
        """The keys that this thread is to work on, which are in its flight from now on, and those of other flights."""
        mine: list[K] = []
        others: dict[K, Future[Mapping[K, V]]] = {}
        with self._lock:
            for key in keys:
                known = self._flying.setdefault(key, flight)
                if known is not flight:
                    others[key] = known
                else:
                    mine.append(key)
        return mine, others

    def _land(self, mine: Iterable[K], flight: Future[Mapping[K, V]], brought: Mapping[K, V]) -> None:
        with self._lock:
            for key in mine:
                del self._flying[key]
        flight.set_result(brought)


def _followed(others: Mapping[K, Future[Mapping[K, V]]], deadline: Deadline | None) -> dict[K, V]:
    """What other threads brought in time."""
    ends = math.inf if deadline is None else time.monotonic() + SHARE * deadline.left()
    stirred = threading.Event()
    unregister = None if deadline is None else deadline.on_cancel(stirred.set)
    try:
        flights = set(others.values())
        for flight in flights:
            flight.add_done_callback(lambda _: stirred.set())
        while not all(flight.done() for flight in flights):
            left = ends - time.monotonic()
            if left <= 0 or (deadline is not None and deadline.cancelled):
                break
            stirred.wait(None if math.isinf(left) else left)
            stirred.clear()
    finally:
        if unregister is not None:
            unregister()
    if deadline is not None:
        deadline.check()
    landed = ((key, flight.result()) for key, flight in others.items() if flight.done())
    return {key: brought[key] for key, brought in landed if key in brought}
