"""Statements side by side: all are begun, all are waited for, then the first error is raised.

Waiting for every one matters to a writer: what has failed can be mended only when nothing of it
still runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, wait
from typing import TypeVar

T = TypeVar("T")


def together(executor: Executor, steps: Sequence[Callable[[], T]]) -> list[T]:
    """The answers of the steps, in their order. The first runs in this thread, the others in the executor's."""
    if not steps:
        return []
    others = [executor.submit(step) for step in steps[1:]]
    try:
        first = steps[0]()
    finally:
        wait(others)
    return [first, *(other.result() for other in others)]
