"""Stops statements in the engine: `KILL QUERY` by the statement's own `log_comment`.

The embedded engine drops query ids, so a comment that no other statement carries stands for one.
A statement may be killed before the engine has listed it; the kill is therefore repeated until the
caller has seen its statement end. One thread with its own client does this for all, and is started
by the first cancellation.
"""

from __future__ import annotations

import logging
from threading import Condition, Thread

from clickhouse_connect.driver.exceptions import ClickHouseError

from loom_server.store.client import Client

KILL_EVERY_S = 0.02

_LOG = logging.getLogger("loom.store")


class Killer:
    """Kills what it is told to until that has ended."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._running: set[str] = set()
        self._wanted: set[str] = set()
        self._changed = Condition()
        self._thread: Thread | None = None
        self._closed = False

    def begun(self, comment: str) -> None:
        """A statement that may have to be stopped is about to run."""
        with self._changed:
            self._running.add(comment)

    def kill(self, comment: str) -> None:
        """Begin to stop the statement that carries `comment`, if it still runs; returns at once."""
        with self._changed:
            # A cancellation may come a moment after the end, and would then be repeated for ever.
            if self._closed or comment not in self._running:
                return
            self._wanted.add(comment)
            if self._thread is None:
                self._thread = Thread(target=self._run, name="loom-kill", daemon=True)
                self._thread.start()
            self._changed.notify()

    def ended(self, comment: str) -> None:
        """The statement has ended, in whatever way."""
        with self._changed:
            self._running.discard(comment)
            self._wanted.discard(comment)

    def close(self) -> None:
        """End the thread and close the client."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()
        self._client.close()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._wanted and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                comments = sorted(self._wanted)
            listed = ", ".join(f"'{comment}'" for comment in comments)
            try:
                self._client.command(f"KILL QUERY WHERE Settings['log_comment'] IN ({listed}) ASYNC")
            except ClickHouseError:
                # The statements end at their deadlines all the same, and the next cancellation needs this thread.
                _LOG.warning("statements could not be stopped: %s", listed)
            with self._changed:
                self._changed.wait(KILL_EVERY_S)
