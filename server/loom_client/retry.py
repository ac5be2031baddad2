"""When a call is sent again, and when any call may be sent at all.

    wait before attempt n + 1 = max(Retry-After, 0) + uniform(0, min(most_s, first_s · 2ⁿ))
    after a 429               no call before now + Retry-After; then calls stand `gap` apart
    gap                       doubles with each 429 (50 ms to 5 s), shrinks by a third with each answer, ends under 5 ms

The jitter keeps many clients from coming back at one moment. The pace belongs to the client, not to a call, so all
threads and tasks that share it slow down together. It is per process: other processes learn by their own 429.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

FIRST_GAP_S, MOST_GAP_S, LEAST_GAP_S = 0.05, 5.0, 0.005
_SHRINK = 2 / 3
UNTOLD_PAUSE_S = 1.0
"""The pause after a 429 that does not say how long."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long a call is tried. `attempts` counts the first one; `attempts=1` never retries.

    No attempt begins `total_s` after the call began, and those after the first are given no longer than what is left.
    """

    attempts: int = 4
    total_s: float = 60.0
    first_s: float = 0.1
    most_s: float = 5.0

    def pause(self, attempts_made: int, retry_after_s: float | None, chance: float) -> float:
        """Seconds to wait after so many attempts; `chance` is uniform in [0, 1)."""
        widest = min(self.most_s, self.first_s * 2.0 ** (attempts_made - 1))
        return max(retry_after_s or 0.0, 0.0) + chance * widest


class Pace:
    """The moments at which a client may send. Times are seconds of one monotonic clock."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._gap = 0.0
        self._open_at = self._slowed_at = float("-inf")

    def take(self, now: float) -> float:
        """0.0 where a call may be sent now, which takes the turn; else the seconds until it is worth asking again."""
        with self._lock:
            if now < self._open_at:
                return self._open_at - now
            self._open_at = now + self._gap
            return 0.0

    def slow_down(self, now: float, retry_after_s: float | None) -> None:
        """A 429 came."""
        pause = UNTOLD_PAUSE_S if retry_after_s is None else max(retry_after_s, 0.0)
        with self._lock:
            self._gap = min(MOST_GAP_S, max(FIRST_GAP_S, 2 * self._gap))
            self._open_at = max(self._open_at, now + pause)
            self._slowed_at = now

    def speed_up(self, sent_at: float) -> None:
        """An answer came that was no 429. That of a call sent before the last 429 says nothing about it."""
        with self._lock:
            if sent_at >= self._slowed_at:
                gap = self._gap * _SHRINK
                self._gap = gap if gap >= LEAST_GAP_S else 0.0
