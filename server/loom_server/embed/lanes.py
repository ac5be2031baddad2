"""A bounded number of threads for requests, in two lanes: what is urgent goes before what is not.

    at most `size` run at once; of those that wait, the urgent ones in their order, then the others in theirs

A question is one request that a search waits for; a large write is many. Whoever waits may give a future its
end: a future that has ended before its turn is not run, and what a late request brings is dropped.

Threads are started as they are needed, end after `IDLE_S` seconds without work, and do not hold up the end of
the process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from itertools import count
from queue import Empty, PriorityQueue
from typing import Generic, TypeVar

T = TypeVar("T")

IDLE_S = 60.0


class Lanes(Generic[T]):
    """Runs what is submitted on at most `size` threads."""

    def __init__(self, size: int, name: str) -> None:
        """`name` begins the names of the threads."""
        self._size = size
        self._name = name
        self._lock = threading.Lock()
        self._threads = 0
        self._numbers = count()
        self._waiting: PriorityQueue[tuple[bool, int, Future[T], Callable[[], T]]] = PriorityQueue()

    def submit(self, urgent: bool, work: Callable[[], T]) -> Future[T]:
        """What `work` will bring."""
        future: Future[T] = Future()
        with self._lock:
            self._waiting.put((not urgent, next(self._numbers), future, work))
            if self._threads < self._size:
                self._threads += 1
                threading.Thread(target=self._run, name=f"{self._name}-{self._threads}", daemon=True).start()
        return future

    def _run(self) -> None:
        while True:
            try:
                _, _, future, work = self._waiting.get(timeout=IDLE_S)
            except Empty:
                # Under the lock, or work could arrive for a thread that has just decided to end.
                with self._lock:
                    if self._waiting.empty():
                        self._threads -= 1
                        return
                continue
            if not future.done():
                _fulfil(future, work)


def abandon(futures: Iterable[Future[T]], error: BaseException) -> None:
    """End those that have not ended."""
    for future in futures:
        with suppress(InvalidStateError):
            future.set_exception(error)


def _fulfil(future: Future[T], work: Callable[[], T]) -> None:
    try:
        made = work()
    except BaseException as error:
        abandon([future], error)
    else:
        with suppress(InvalidStateError):
            future.set_result(made)
