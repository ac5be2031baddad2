"""Many callers, one statement: what waits while a batch is worked on is the next batch.

    call(item) = run([item, …others that came meanwhile])[own place]

No thread of its own: one of the callers works for all who wait, and then one of the next. Who comes alone waits for
nobody. Who runs a batch after one that had company waits up to `linger_s` for as much again, or callers who are
answered together would fall into two groups that take turns. Where `run` raises, each caller of the batch is told the
same error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Condition
from typing import Generic, TypeVar

LINGER_S = 0.004

T = TypeVar("T")
R = TypeVar("R")


class Batched(Generic[T, R]):
    """`run` for many callers at once; it answers with one result an item, in their order."""

    def __init__(self, run: Callable[[Sequence[T]], Sequence[R]], linger_s: float = 0.0) -> None:
        self._run = run
        self._linger_s = linger_s
        self._company = 1
        self._changed = Condition()
        self._waiting: list[tuple[T, Future[R]]] = []
        self._busy = False

    def __call__(self, item: T) -> R:
        """The result for `item`. Raises what `run` raises."""
        result = Future[R]()
        with self._changed:
            self._waiting.append((item, result))
            if len(self._waiting) == self._company:
                self._changed.notify_all()
            self._changed.wait_for(lambda: result.done() or not self._busy)
            if result.done():
                return result.result()
            self._busy = True
            self._changed.wait_for(lambda: len(self._waiting) >= self._company, self._linger_s)
            batch, self._waiting = self._waiting, []
            self._company = len(batch)
        self._work(batch)
        return result.result()

    def _work(self, batch: Sequence[tuple[T, Future[R]]]) -> None:
        try:
            found = self._run([item for item, _ in batch])
            for (_, result), value in zip(batch, found, strict=True):
                result.set_result(value)
        except BaseException as error:
            for _, result in batch:
                if not result.done():
                    result.set_exception(error)
            raise
        finally:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
