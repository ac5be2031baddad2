"""The store in this process: chDB on one data directory, through clickhouse-connect.

    <data_dir>/loom.lock    who owns the directory
    <data_dir>/engine/      the engine's files

`driven.py` tells how a statement runs.

A close is marked clean only where nothing is in doubt; else the next start sweeps. In doubt is a
store whose owner before did not close cleanly, until `settle` is called after a finished sweep,
and one in which a write has failed. The engine allows one directory a process, and a store whose
directory was removed or replaced refuses every statement (`anchor.py`).
"""

from __future__ import annotations

import os
from pathlib import Path

from loom_server.errors import LoomError
from loom_server.settings import Settings
from loom_server.store.anchor import Anchor
from loom_server.store.client import open_clients
from loom_server.store.driven import DrivenStore, bounds
from loom_server.store.lock import LOCK_FILE, DirectoryLock

ENGINE_DIRECTORY = "engine"


class EmbeddedStore(DrivenStore):
    """A `Store` that owns its data directory from its making to `close`.

    Raises `StoreLocked` or `StoreUnavailable` when it cannot open.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        clients: int = 6,
        timeout_s: float = 30.0,
        memory_bytes: int = 4_000_000_000,
    ) -> None:
        engine = Path(os.path.realpath(data_dir)) / ENGINE_DIRECTORY
        fresh = not engine.exists()
        self._lock = DirectoryLock.acquire(engine.parent)
        self._was_clean = fresh or self._lock.was_clean
        try:
            opened = open_clients(engine, clients + 1, bounds(timeout_s, memory_bytes))
            self._anchors = (Anchor(engine), Anchor(engine.parent / LOCK_FILE))
        except LoomError:
            self._lock.release(clean=self._was_clean)
            raise
        self._in_doubt = not self._was_clean
        super().__init__(opened, timeout_s, f"{os.getpid():x}")

    @property
    def shared(self) -> bool:
        """Never: one process owns the directory."""
        return False

    @property
    def was_clean(self) -> bool:
        """Whether the owner before closed cleanly."""
        return self._was_clean

    @classmethod
    def open(cls, settings: Settings) -> EmbeddedStore:
        """The store that the settings describe."""
        return cls(
            settings.data_dir,
            clients=settings.store_clients,
            timeout_s=settings.statement_timeout_s,
            memory_bytes=settings.statement_memory_bytes,
        )

    def publish_address(self, url: str) -> None:
        """Tell a second process on this directory where this one answers."""
        self._lock.publish_address(url)

    def settle(self) -> None:
        """Say that a sweep has found and finished everything: from now on a close may be clean."""
        self._in_doubt = False

    def doubt(self) -> None:
        """Say that something was left half done: the next start sweeps, whatever comes."""
        self._in_doubt = True

    def close(self) -> None:
        """Wait for running statements, let the engine go, and mark the close clean if nothing is in doubt."""
        if not self._close_clients():
            return
        for anchor in self._anchors:
            anchor.close()
        self._lock.release(clean=not self._in_doubt)

    def _check(self) -> None:
        with self._guard:
            for anchor in () if self._closed else self._anchors:
                anchor.check()
