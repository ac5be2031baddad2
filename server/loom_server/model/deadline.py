"""A deadline is a moment; what is left of it goes into every statement. With it travels
the caller's cancellation, so a client that hangs up stops the statements it caused.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from loom_server.errors import Cancelled, DeadlineExceeded


class Deadline:
    """A point in monotonic time and a cancel flag, shared by the steps of one request."""

    def __init__(self, seconds: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._end = monotonic() + seconds
        self._cancelled = threading.Event()
        self._listeners: dict[int, Callable[[], None]] = {}
        self._lock = threading.Lock()

    def left(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self._end - self._monotonic())

    def check(self) -> None:
        """Raise when the time is over or the caller has gone."""
        if self._cancelled.is_set():
            raise Cancelled("The caller went away before the answer was ready.")
        if self.left() <= 0.0:
            raise DeadlineExceeded("The time given was used up; raise timeout_ms or narrow the request.")

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Mark the request as gone and tell every running statement to stop."""
        self._cancelled.set()
        with self._lock:
            listeners = tuple(self._listeners.values())
        for listener in listeners:
            listener()

    def on_cancel(self, stop: Callable[[], None]) -> Callable[[], None]:
        """Register `stop` for the time of one statement; call the answer to unregister."""
        key = id(stop)
        with self._lock:
            self._listeners[key] = stop
        if self._cancelled.is_set():
            stop()

        def unregister() -> None:
            with self._lock:
                self._listeners.pop(key, None)

        return unregister
