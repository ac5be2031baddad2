"""Admission: how many calls may be inside, decided before anything is done for one more.

    lane     hold a thread                await one
    read     LOOM_READS_AT_ONCE           LOOM_READS_WAITING
    write    LOOM_WRITES_AT_ONCE          LOOM_WRITES_WAITING
    ops      OPS_AT_ONCE                  OPS_WAITING

One call more than both is refused as `rate_limited`. The decision compares two numbers: it takes no thread and no
lock, since all of it runs in the event loop. Health and capabilities have a lane of their own, so that they answer
while searches and writes wait. Each call of a JSON-RPC batch has a place of its own.

Limits: a place says nothing of how large its call is; bodies, items and batches have bounds of their own. A body that
is still being read holds no place, or a slow sender would keep others out.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager

from anyio import CapacityLimiter

from loom_server.api.operations import Lane
from loom_server.errors import RateLimited
from loom_server.observe.metrics import Metrics
from loom_server.settings import Settings

OPS_AT_ONCE, OPS_WAITING = 4, 60
"""Health checks are short, and balancers ask few of them at once."""

BUSY_RETRY_S = 1.0


class Places:
    """The places of one lane; for the event loop alone."""

    def __init__(self, lane: Lane, at_once: int, waiting: int, metrics: Metrics | None = None) -> None:
        self._lane: Lane = lane
        self._limiter = CapacityLimiter(at_once)
        self._waiting = waiting
        self._most = at_once + waiting
        self._taken = 0
        self._metrics = metrics

    @property
    def running(self) -> int:
        """Calls that hold a thread."""
        return self._limiter.borrowed_tokens

    @property
    def waiting(self) -> int:
        """Calls that await one."""
        return self._taken - self.running

    def check(self) -> None:
        """Raise `RateLimited` where no place is free."""
        if self._taken < self._most:
            return
        if self._metrics is not None:
            self._metrics.turned_away(self._lane)
        told = f"{self._most - self._waiting} calls of the kind '{self._lane}' run and {self._waiting} wait"
        raise RateLimited(f"The service is busy: {told}; try again in a moment.", retry_after_s=BUSY_RETRY_S)

    @contextmanager
    def place(self) -> Generator[CapacityLimiter]:
        """A place while the block runs, and what lends its thread. Raises `RateLimited`."""
        self.check()
        self._taken += 1
        try:
            yield self._limiter
        finally:
            self._taken -= 1


class Admission:
    """The lanes of one service."""

    def __init__(self, settings: Settings, metrics: Metrics | None = None) -> None:
        reads = settings.reads_at_once or (os.cpu_count() or 1) + 1
        self._lanes: dict[Lane, Places] = {
            "read": Places("read", reads, settings.reads_waiting, metrics),
            "write": Places("write", settings.writes_at_once, settings.writes_waiting, metrics),
            "ops": Places("ops", OPS_AT_ONCE, OPS_WAITING, metrics),
        }

    def of(self, lane: Lane) -> Places:
        """The places of a lane."""
        return self._lanes[lane]

    def load(self) -> Iterator[tuple[Lane, int, int]]:
        """Of each lane, how many calls hold a thread and how many await one."""
        for lane, places in self._lanes.items():
            yield lane, places.running, places.waiting
