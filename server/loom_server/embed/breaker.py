"""Leaves an endpoint alone that keeps failing.

    fewer than FAILURES calls in a row that failed     every call may go
    from then on                                       one call each PAUSE_S seconds, as a trial

A call fails when all its attempts have: a burst of requests that are answered at the second attempt counts nothing.
One success closes it. The moment of the next try is set when a try is let through, so a try that never tells
how it ended blocks nothing for longer than a pause.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

FAILURES = 3
PAUSE_S = 5.0


class Breaker:
    """Counts failures in a row; safe from many threads."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._failures = 0
        self._next = 0.0

    @property
    def failures(self) -> int:
        """Failures in a row until now."""
        return self._failures

    @property
    def open(self) -> bool:
        """Whether a call would be held back now."""
        with self._lock:
            return self._left() > 0.0

    @property
    def trying(self) -> bool:
        """Whether a call that goes now is a trial."""
        return self._failures >= FAILURES

    def wait(self) -> float:
        """0.0 where a call may go, which is then taken to go; else the seconds until one may."""
        with self._lock:
            left = self._left()
            if left == 0.0 and self._failures >= FAILURES:
                self._next = self._monotonic() + PAUSE_S
            return left

    def succeeded(self) -> bool:
        """A call was answered; whether that has closed the breaker."""
        with self._lock:
            before, self._failures = self._failures, 0
            return before >= FAILURES

    def failed(self) -> bool:
        """A call failed in a way that the next one may fail, too; whether that has opened the breaker."""
        with self._lock:
            self._failures += 1
            self._next = self._monotonic() + PAUSE_S
            return self._failures == FAILURES

    def _left(self) -> float:
        return max(0.0, self._next - self._monotonic()) if self._failures >= FAILURES else 0.0
