"""Sweeps now and then after the processes that died, while this one serves the same store.

Every EVERY_S seconds, give or take a third so that several processes do not do it at once. A store that fails
meanwhile is tried again the next time.
"""

from __future__ import annotations

import random
from threading import Event, Thread

import structlog

from loom_server.errors import LoomError
from loom_server.keep.neighbours import Neighbours
from loom_server.observe.metrics import Metrics
from loom_server.store.process import GONE_S

EVERY_S = 60.0

_log = structlog.get_logger(__name__)


class Patrol:
    """The thread of it, until `close`."""

    def __init__(self, neighbours: Neighbours, metrics: Metrics | None = None, every_s: float = EVERY_S) -> None:
        self._neighbours = neighbours
        self._metrics = metrics
        self._every_s = every_s
        self._over = Event()
        self._thread = Thread(target=self._run, name="loom-patrol", daemon=True)
        self._thread.start()

    def round(self, gone_s: float = GONE_S) -> None:
        """Sweep once, and tell what was done. Raises a `StoreError`."""
        for report in self._neighbours.sweep(gone_s):
            did = {
                "dropped": report.dropped,
                "superseded": report.superseded,
                "lowered": report.lowered,
                "mended": len(report.mended),
            }
            _log.warning("swept", process=report.number, **did, busy=len(report.busy))
            if self._metrics is not None:
                for change, number in did.items():
                    self._metrics.swept(change, number)

    def close(self) -> None:
        """End the thread, after the round that runs."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(self._every_s * random.uniform(2 / 3, 4 / 3)):  # noqa: S311
            try:
                self.round()
            except LoomError as error:
                _log.warning("sweep_failed", error=error.code)
