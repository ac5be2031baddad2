"""The stages of a start, told by who starts and looked at by those who wait for it.

`done` holds what has ended, in milliseconds and in order; `running` the one stage that has not. Written by one thread,
read by any.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from time import perf_counter


class Stages:
    """The stages of one start."""

    def __init__(self) -> None:
        self._running: tuple[str, float] | None = None
        self._done: dict[str, float] = {}

    @property
    def running(self) -> tuple[str, float] | None:
        """The stage that runs now and for how many seconds it has; None between stages and at the end."""
        running = self._running
        return None if running is None else (running[0], perf_counter() - running[1])

    @property
    def done(self) -> dict[str, float]:
        """Milliseconds of each stage that has ended well, in order."""
        return dict(self._done)

    @contextmanager
    def during(self, stage: str) -> Generator[None]:
        """The block is a stage. One that raises stays as the one that runs: there the start ended."""
        start = perf_counter()
        self._running = stage, start
        yield
        self._done = {**self._done, stage: (perf_counter() - start) * 1000.0}
        self._running = None
