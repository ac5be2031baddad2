"""The engine's clients, one to each running statement.

A client runs one statement at a time and opening one takes 25 ms, so a fixed number is opened at
the start and lent out. Waiting for one ends with the deadline or when its caller goes away.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from threading import Condition

from loom_server.errors import ResourceExhausted, StoreUnavailable
from loom_server.model.deadline import Deadline
from loom_server.store.client import Client


class Pool:
    """Lends clients; the last one returned goes out first, since its caches are warm."""

    def __init__(self, clients: Sequence[Client], longest_wait_s: float) -> None:
        self._clients = tuple(clients)
        self._free = list(clients)
        self._longest_wait_s = longest_wait_s
        self._changed = Condition()
        self._closed = False

    @property
    def in_use(self) -> int:
        """Clients that are lent out now."""
        return len(self._clients) - len(self._free)

    @contextmanager
    def lend(self, deadline: Deadline | None) -> Generator[Client]:
        """A client for the length of the block.

        Raises `DeadlineExceeded` or `Cancelled` where the deadline ends the wait,
        `ResourceExhausted` where the wait has no deadline and takes too long, and
        `StoreUnavailable` after `close`.
        """
        client = self._take(deadline)
        try:
            yield client
        finally:
            with self._changed:
                self._free.append(client)
                self._changed.notify()

    def close(self) -> None:
        """Refuse new loans, wait for those that run, then close every client."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            while len(self._free) < len(self._clients):
                self._changed.wait()
            self._free.clear()
        for client in self._clients:
            client.close()

    def _take(self, deadline: Deadline | None) -> Client:
        with self._changed:
            if self._free and not self._closed:
                return self._free.pop()
        unregister = deadline.on_cancel(self._wake) if deadline else None
        try:
            return self._wait(deadline)
        finally:
            if unregister:
                unregister()

    def _wait(self, deadline: Deadline | None) -> Client:
        end = time.monotonic() + self._longest_wait_s
        with self._changed:
            while not self._free or self._closed:
                if self._closed:
                    raise StoreUnavailable("The store is closed.")
                if deadline is not None:
                    deadline.check()
                left = end - time.monotonic()
                if left <= 0.0:
                    raise ResourceExhausted("Every client of the store is busy; raise LOOM_STORE_CLIENTS or ask less.")
                self._changed.wait(left if deadline is None else min(left, deadline.left()))
            return self._free.pop()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
