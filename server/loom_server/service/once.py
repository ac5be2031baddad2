"""A write that its caller named is done once, and answered the same each time.

    same key, same request     the answer that was kept, byte for byte; nothing is done
    same key, another request  `Conflict`
    the first still runs       the next one waits for it, within its own deadline
    the first failed           nothing was kept, so the next one does it

"Once" holds from the moment the answer is kept, which is after the commit and before the answer is sent. A crash
between the two, a store that takes no row, or a second process that is sent the same key at the same time makes it "at
least once": the repeat is judged like any other write, so a value that is there already changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition

import structlog

from loom_server.errors import Conflict, DeadlineExceeded, FieldError, StoreError
from loom_server.model.deadline import Deadline
from loom_server.store.idempotency import Answers, Name

IDEMPOTENCY = "Idempotency-Key"

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that its caller named. `request` is the SHA-256 of its parameters, as hex."""

    name: Name
    request: str


@dataclass(frozen=True, slots=True)
class Done:
    """The bytes of an answer. Those of a call that is worth trying again are not `final`, and not kept."""

    answer: bytes
    final: bool = True


class Once:
    """Keeps the repeats of a service's writes apart; safe from many threads."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._running: dict[Name, str] = {}
        self._changed = Condition()

    def answer(self, asked: Asked, work: Callable[[], Done], deadline: Deadline) -> bytes:
        """The answer of `work`, or of the call of this name that was done before.

        Raises `Conflict` where that was another request, `DeadlineExceeded` or `Cancelled` while it runs, a
        `StoreError` where it cannot be told, and what `work` raises.
        """
        with self._turn(asked, deadline):
            kept = self._answers.find(asked.name)
            if kept is not None:
                _check(asked, kept.request)
                if kept.answer is None:
                    raise _conflict("the call was done, and its answer was too large to be kept; read what it wrote")
                return kept.answer
            deadline.check()
            done = work()
            if done.final:
                self._keep(asked, done.answer)
            return done.answer

    @contextmanager
    def _turn(self, asked: Asked, deadline: Deadline) -> Generator[None]:
        """Nobody else works under this name while the block runs."""
        unregister = deadline.on_cancel(self._wake)
        try:
            with self._changed:
                while (running := self._running.get(asked.name)) is not None:
                    _check(asked, running)
                    self._wait(deadline)
                self._running[asked.name] = asked.request
        finally:
            unregister()
        try:
            yield
        finally:
            with self._changed:
                del self._running[asked.name]
                self._changed.notify_all()

    def _wait(self, deadline: Deadline) -> None:
        if not self._changed.wait(deadline.left()) and deadline.left() <= 0.0:
            raise DeadlineExceeded(f"The first call with this {IDEMPOTENCY} still runs; send it again in a moment.")
        deadline.check()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _keep(self, asked: Asked, answer: bytes) -> None:
        try:
            self._answers.keep(asked.name, asked.request, answer)
        except StoreError as error:
            # The write is in: to fail it now would have the caller do it again.
            _log.warning("answer_not_kept", operation=asked.name.operation, code=error.code)


def _check(asked: Asked, request: str) -> None:
    if request != asked.request:
        raise _conflict(f"names another {asked.name.operation} of this org; take a new key for a new call")


def _conflict(message: str) -> Conflict:
    return Conflict(f"{IDEMPOTENCY}: {message}.", errors=(FieldError(IDEMPOTENCY, message),))
