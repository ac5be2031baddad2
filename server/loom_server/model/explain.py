"""Explaining is writing down on the way: stages call a `Recorder`, and the plain search
carries one that forgets. There is no second path.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from time import perf_counter
from typing import Protocol


class Recorder(Protocol):
    """What the stages may tell."""

    def stage(self, name: str, milliseconds: float) -> None:
        """A stage is done."""
        ...


class Forgetful:
    """Remembers nothing."""

    def stage(self, name: str, milliseconds: float) -> None:
        """Nothing is kept."""


FORGETFUL = Forgetful()


@contextmanager
def timed(recorder: Recorder, name: str) -> Generator[None]:
    """Tell the recorder how long the block took."""
    start = perf_counter()
    try:
        yield
    finally:
        recorder.stage(name, (perf_counter() - start) * 1000.0)
