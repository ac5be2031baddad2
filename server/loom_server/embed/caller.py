"""One request to a remote embedder, until it succeeds, fails for good or its time is over.

    attempts    1 + len(PAUSES_S), for failures that may pass; the SDK's own retries are off
    pause       what Retry-After says and up to a tenth more, else the scheduled pause and up to half less
    gives up    where the pause would outlast the errand, or MOST_PAUSE_S

The breaker is asked before the first attempt, so an endpoint that is down costs a search nothing once that is known;
a trial has one attempt. A time-out counts for the breaker where the attempt had PATIENCE_S seconds or the whole
time-out: a caller in a hurry says nothing of the endpoint.
A provider is an `Api`: how a request is sent, how its answer is read, what its errors mean.
"""

from __future__ import annotations

import math
import random
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import numpy as np
import structlog

from loom_server.embed.base import Vectors
from loom_server.embed.breaker import Breaker
from loom_server.embed.failure import Failure
from loom_server.errors import EmbedError
from loom_server.model.deadline import Deadline

Role = Literal["query", "passage"]
Observer = Callable[[str], None]
"""Told how each request ended: `ok` or the kind of its failure."""

PAUSES_S = (0.25, 1.0)
MOST_PAUSE_S = 60.0
PATIENCE_S = 2.0
SHARE = 0.5
"""Share of what is left of a deadline that the embedder may use: the words are searched, or written, after it."""

_log = structlog.get_logger(__name__)

_MALFORMED = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What reading an answer of another shape ends in, here or in an SDK, which takes the shape for granted."""


class Api(Protocol):
    """One provider. `failures` are the errors that `send` raises and `failure` understands."""

    @property
    def name(self) -> str:
        """Provider and model."""
        ...

    @property
    def most_texts(self) -> int:
        """Texts that one request may hold."""
        ...

    @property
    def failures(self) -> tuple[type[Exception], ...]: ...

    def send(self, texts: Sequence[str], role: Role, timeout_s: float) -> Any:
        """Send one request without retries; the SDK's own answer."""
        ...

    def read(self, answer: Any) -> Sequence[Any]:
        """A vector a text, in their order: numbers, or float32 in base64. May fail in any way on junk."""
        ...

    def failure(self, error: Exception) -> Failure:
        """What an error of `failures` means."""
        ...


class Errand:
    """The time that one call of the embedder has, and whether anybody still waits for it."""

    def __init__(self, deadline: Deadline | None = None) -> None:
        """`SHARE` of what is left of the deadline; without one there is no end."""
        self._ends = math.inf if deadline is None else time.monotonic() + SHARE * deadline.left()
        self._over = threading.Event()
        self.error: EmbedError | None = None
        """The first failure of one of its requests, which ends it."""

    @property
    def over(self) -> bool:
        """Whether nobody waits any more."""
        return self._over.is_set()

    def left(self) -> float:
        """Seconds left, never below zero; infinite without a deadline."""
        return max(0.0, self._ends - time.monotonic())

    def pause(self, seconds: float) -> None:
        """Sleep, at most until nobody waits any more."""
        self._over.wait(seconds)

    def end(self, error: EmbedError | None = None) -> None:
        """Nobody waits any more; of several errors the first is kept."""
        self.error = self.error or error
        self._over.set()


class Caller:
    """Sends requests of one provider; safe from many threads."""

    def __init__(self, api: Api, timeout_s: float) -> None:
        """`timeout_s` bounds one attempt."""
        self._api = api
        self._timeout_s = timeout_s
        self._observer: Observer = _unobserved
        self._answered: float | None = None
        self.breaker = Breaker()

    def observe(self, observer: Observer) -> None:
        """Have `observer` told of every request."""
        self._observer = observer

    def answered_within(self, seconds: float) -> bool:
        """Whether the last request was answered, and not longer ago than `seconds`."""
        recent = self._answered is not None and time.monotonic() - self._answered <= seconds
        return recent and self.breaker.failures == 0

    def rows(self, texts: Sequence[str], role: Role, errand: Errand) -> Vectors:
        """The endpoint's own vectors, shape (len(texts), any number).

        Raises `EmbedError`, which ends the errand: the other requests of it are of no use any more.
        """
        try:
            return self._rows(texts, role, errand)
        except EmbedError as error:
            errand.end(error)
            raise

    def _rows(self, texts: Sequence[str], role: Role, errand: Errand) -> Vectors:
        self._admit()
        pauses = iter(() if self.breaker.trying else PAUSES_S)
        while True:
            if errand.over or errand.left() == 0.0:
                raise EmbedError(f"Embedder {self._api.name} had no time left.")
            seconds = min(self._timeout_s, errand.left())
            outcome = self._once(texts, role, seconds)
            if not isinstance(outcome, Failure):
                self._answered = time.monotonic()
                self._reached()
                return outcome
            pause = _pause(outcome, next(pauses, None))
            if pause is None or pause >= errand.left():
                self._weigh(outcome, seconds)
                raise EmbedError(f"Embedder {self._api.name} {outcome.sentence()}.", retry_after_s=outcome.after_s)
            errand.pause(pause)

    def _once(self, texts: Sequence[str], role: Role, seconds: float) -> Vectors | Failure:
        try:
            answer = self._api.send(texts, role, seconds)
            rows = np.stack([_numbers(vector) for vector in self._api.read(answer)])
        except self._api.failures as error:
            return self._failed(self._api.failure(error))
        except _MALFORMED:
            return self._failed(Failure("junk"))
        if rows.ndim != 2 or len(rows) != len(texts):
            return self._failed(Failure("junk"))
        self._observer("ok")
        return rows

    def _admit(self) -> None:
        wait = self.breaker.wait()
        if wait:
            raise EmbedError(
                f"Embedder {self._api.name} failed {self.breaker.failures} times in a row; "
                f"it is left alone for {math.ceil(wait)} s.",
                retry_after_s=wait,
            )

    def unusable(self) -> None:
        """What was answered last is of no use: the next probe asks again."""
        self._answered = None

    def _failed(self, failure: Failure) -> Failure:
        if failure.kind != "refused":  # which is a word on the texts, not on the endpoint
            self._answered = None
        self._observer(failure.kind)
        return failure

    def _weigh(self, failure: Failure, seconds: float) -> None:
        """Tell the breaker how a call ended whose last attempt had so many seconds."""
        if not failure.counts:
            self._reached()
            return
        hurried = failure.kind == "timeout" and seconds < min(PATIENCE_S, self._timeout_s)
        # Told once, not at every search that goes without it.
        if not hurried and self.breaker.failed():
            _log.warning("embedder_left_alone", embedder=self._api.name, reason=failure.sentence())

    def _reached(self) -> None:
        if self.breaker.succeeded():
            _log.info("embedder_back", embedder=self._api.name)


def _pause(failure: Failure, scheduled: float | None) -> float | None:
    """Seconds until the next attempt; None where there is none."""
    if scheduled is None or not failure.again:
        return None
    jitter = random.random()  # noqa: S311 - spreads load, guards nothing
    if failure.after_s is None:
        return scheduled * (1.0 - jitter / 2)
    return failure.after_s * (1.0 + jitter / 10) if failure.after_s <= MOST_PAUSE_S else None


def _numbers(vector: Any) -> Vectors:
    if isinstance(vector, str):
        return np.frombuffer(b64decode(vector, validate=True), dtype="<f4").astype(np.float32)
    with np.errstate(over="ignore"):
        return np.asarray(vector, dtype=np.float64).astype(np.float32)


def _unobserved(outcome: str) -> None:
    """Where nobody counts."""
