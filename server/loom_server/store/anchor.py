"""A file or folder that must stay where it was opened.

    there    the path leads to what is held open

A data directory that is removed or moved away under a running engine is made anew by its next insert, which
then acknowledges rows that nobody can read. So each statement looks first, which takes 3 µs. What is held
open keeps its number on every file system, also where numbers are given anew after a while.

Limits: a folder is known by itself, not by what is in it; a removal between the look and the insert is not seen.
"""

from __future__ import annotations

import os
from pathlib import Path

from loom_server.errors import StoreUnavailable


class Anchor:
    """Holds `path` open until `close`. Raises `StoreUnavailable` where it cannot be opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._descriptor = os.open(path, os.O_RDONLY)
        except OSError as error:
            raise StoreUnavailable(f"{path} cannot be read ({error.strerror}).") from error

    def check(self) -> None:
        """Raise `StoreUnavailable` where the path leads elsewhere by now, or nowhere."""
        try:
            there = os.path.samestat(self._path.stat(), os.fstat(self._descriptor))
        except OSError:
            there = False
        if not there:
            raise StoreUnavailable(
                f"{self._path} was removed or replaced while it was in use; stop this process, put it back, and start."
            )

    def close(self) -> None:
        """Let go."""
        os.close(self._descriptor)
