"""Time as a value: everything that asks for the time is given a `Clock`, so tests set it.

Row ids are microseconds since 1970 times 1024 plus a counter: unique in one process,
rising with commit order, and readable as a time.
"""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from typing import Protocol

IDS_PER_MICROSECOND = 1024


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> datetime:
        """The current time, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class RowIds:
    """Hands out rising row ids, thread safe; the first is above `floor`."""

    def __init__(self, clock: Clock, floor: int = 0) -> None:
        self._clock = clock
        self._last = floor
        self._lock = threading.Lock()

    def next(self) -> int:
        micros = int(self._clock.now().timestamp() * 1_000_000)
        with self._lock:
            self._last = max(self._last + 1, micros * IDS_PER_MICROSECOND)
            return self._last


def ids_in(seconds: float) -> int:
    """How far apart two row ids are that were given `seconds` apart."""
    return int(seconds * 1_000_000) * IDS_PER_MICROSECOND


def memory_id_of(row_id: int) -> str:
    """The wire form of a row id: 16 hexadecimal digits."""
    return f"{row_id:016x}"
