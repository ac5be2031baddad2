"""Time as a value: everything that asks for the time is given a `Clock`, so tests set it.

Row ids are microseconds since 1970 times 1024 plus a counter, or plus the tag of one of several processes:
unique, rising with the commit order of their process, and readable as a time.
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
    """Hands out rising row ids, thread safe; the first is above `floor`.

    With a `tag`, from 0 to 1023, every id leaves it as its remainder by 1024.
    """

    def __init__(self, clock: Clock, floor: int = 0, tag: int | None = None) -> None:
        self._clock = clock
        self._tag = tag or 0
        self._step = 1 if tag is None else IDS_PER_MICROSECOND
        self._last = floor if tag is None else floor - floor % IDS_PER_MICROSECOND + tag
        self._lock = threading.Lock()

    def next(self) -> int:
        micros = int(self._clock.now().timestamp() * 1_000_000)
        with self._lock:
            self._last = max(self._last + self._step, micros * IDS_PER_MICROSECOND + self._tag)
            return self._last


def ids_in(seconds: float) -> int:
    """How far apart two row ids are that were given `seconds` apart."""
    return int(seconds * 1_000_000) * IDS_PER_MICROSECOND


def last_id_by(moment: datetime) -> int:
    """The highest id that a row written by this moment has."""
    return (int(moment.timestamp() * 1_000_000) + 1) * IDS_PER_MICROSECOND - 1


def memory_id_of(row_id: int) -> str:
    """The wire form of a row id: 16 hexadecimal digits."""
    return f"{row_id:016x}"
