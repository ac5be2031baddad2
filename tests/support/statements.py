"""Counts what a store was asked, to prove how many statements something costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from loom_server.store.embedded import EmbeddedStore
from loom_server.store.store import Outcome


@contextmanager
def counted(store: EmbeddedStore) -> Iterator[Counter[str]]:
    """Statements by name, whatever became of them, that the store ran in the block."""
    names: Counter[str] = Counter()

    def count(name: str, seconds: float, rows: int, outcome: Outcome) -> None:
        names[name] += 1

    stop = store.observe(count)
    try:
        yield names
    finally:
        stop()
