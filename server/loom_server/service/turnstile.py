"""Many pass through a namespace side by side, or one has it alone.

A write passes: it reads the language of its namespace, and analyses its values by it, before it is
queued. Whoever changes the language has the namespace alone: it waits for those who are inside, and
whoever comes meanwhile waits for it. It is never kept out by a stream of writes. The same goes for the
model of an org, which stands here as the org's own row, (org, "-").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Condition

from loom_server.errors import DeadlineExceeded
from loom_server.model.deadline import Deadline

Namespace = tuple[str, str]


class Turnstile:
    """One for all namespaces of a process, given as (org, namespace)."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._inside: Counter[Namespace] = Counter()
        self._closed: set[Namespace] = set()

    @contextmanager
    def passing(self, namespace: Namespace, deadline: Deadline) -> Generator[None]:
        """Be inside while the block runs. Raises `DeadlineExceeded`."""
        with self._changed:
            self._await(lambda: namespace not in self._closed, deadline)
            self._inside[namespace] += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside[namespace] -= 1
                if not self._inside[namespace]:
                    del self._inside[namespace]
                    self._changed.notify_all()

    @contextmanager
    def alone(self, namespace: Namespace, deadline: Deadline) -> Generator[None]:
        """Nobody else is inside while the block runs. Raises `DeadlineExceeded`."""
        with self._changed:
            self._await(lambda: namespace not in self._closed, deadline)
            self._closed.add(namespace)
        try:
            with self._changed:
                self._await(lambda: not self._inside[namespace], deadline)
            yield
        finally:
            with self._changed:
                self._closed.discard(namespace)
                self._changed.notify_all()

    def _await(self, free: Callable[[], bool], deadline: Deadline) -> None:
        if not self._changed.wait_for(free, deadline.left()):
            raise DeadlineExceeded(
                "The time given was used up while the namespace's language or its org's model was being changed."
            )
