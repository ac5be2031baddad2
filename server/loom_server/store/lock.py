"""One process owns a data directory: an advisory lock on `loom.lock`, taken before the engine opens.

The file tells who holds it (JSON: pid, since, address) and, after a close, whether that close was
clean. The system lets go of the lock when its process ends in whatever way, so a lock left by a
killed process is simply taken; only its file then says that the close was not clean.

The engine itself answers a second process with a riddle (`Code: 36`), hence our own lock first.
POSIX only: elsewhere the start is refused. Not meant for network file systems.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import orjson

from loom_server.errors import StoreLocked, StoreUnavailable

try:
    import fcntl
except ImportError:
    fcntl = None

LOCK_FILE = "loom.lock"
LONGEST = 65_536
"""Bytes of the file that are read."""
_KINDS = {"pid": int, "since": str, "address": str, "clean": bool}


@dataclass(frozen=True, slots=True)
class Owner:
    """What the lock file says. `since` is an ISO time in UTC; `clean` is set by a clean close."""

    pid: int
    since: str
    address: str = ""
    clean: bool = False


class DirectoryLock:
    """The held lock of one data directory.

    `was_clean` is false where no owner before left a clean close, so that what one was writing may
    lie there half done; a new directory has had none.
    """

    def __init__(self, directory: Path, descriptor: int, owner: Owner, was_clean: bool) -> None:
        self.directory = directory
        self.was_clean = was_clean
        self._descriptor = descriptor
        self._owner = owner

    @classmethod
    def acquire(cls, directory: Path) -> DirectoryLock:
        """Take the directory, making it where it is missing.

        Raises `StoreLocked` naming the owner, and `StoreUnavailable` where the directory cannot
        be used or the system has no such locks.
        """
        if fcntl is None:
            raise StoreUnavailable("The embedded store needs a POSIX system (Linux or macOS); use a server there.")
        descriptor = _open(directory)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            before = _read(descriptor)
            os.close(descriptor)
            raise StoreLocked(_refusal(directory, before)) from error
        before = _read(descriptor)
        owner = Owner(os.getpid(), datetime.now(UTC).isoformat(timespec="seconds"))
        try:
            _write(descriptor, owner)
        except OSError as error:
            os.close(descriptor)
            raise _unusable(directory, error) from error
        return cls(directory, descriptor, owner, before is not None and before.clean)

    def publish_address(self, url: str) -> None:
        """Tell a second process where this one answers."""
        self._owner = replace(self._owner, address=url)
        _write(self._descriptor, self._owner)

    def release(self, *, clean: bool) -> None:
        """Let the directory go. `clean` says that nothing was left half written."""
        if self._descriptor < 0:
            return
        # Without its mark, as on a full disk, the close only counts as unclean.
        with suppress(OSError):
            _write(self._descriptor, replace(self._owner, address="", clean=clean))
        os.close(self._descriptor)
        self._descriptor = -1


def owner_of(directory: Path) -> Owner | None:
    """What the lock file of a directory says, without taking the lock; it may be the owner before."""
    try:
        descriptor = os.open(directory / LOCK_FILE, os.O_RDONLY)
    except OSError:
        return None
    try:
        return _read(descriptor)
    finally:
        os.close(descriptor)


def _open(directory: Path) -> int:
    if os.fsencode(directory).decode(errors="ignore") != str(directory):
        raise StoreUnavailable("The name of the data directory is not UTF-8; set LOOM_DATA_DIR to one that is.")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise _unusable(directory, error) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise StoreUnavailable(f"{directory / LOCK_FILE} is no regular file; remove it.")
    return descriptor


def _unusable(directory: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(
        f"The data directory {directory} cannot be used ({error.strerror}); set LOOM_DATA_DIR to one that can."
    )


def _read(descriptor: int) -> Owner | None:
    """What the file says; None where it says nothing that an owner would have written."""
    try:
        told = orjson.loads(os.pread(descriptor, LONGEST, 0))
    except (OSError, orjson.JSONDecodeError):
        return None
    if not isinstance(told, dict):
        return None
    said = {name: value for name, value in cast("dict[str, object]", told).items() if type(value) is _KINDS.get(name)}
    return Owner(**said) if said.keys() == _KINDS.keys() else None  # type: ignore[arg-type]


def _write(descriptor: int, owner: Owner) -> None:
    text = orjson.dumps(asdict(owner))
    os.pwrite(descriptor, text, 0)
    os.ftruncate(descriptor, len(text))
    os.fsync(descriptor)


def _refusal(directory: Path, owner: Owner | None) -> str:
    if owner is None or owner.clean:
        return f"The data directory {directory} is being opened by another process; try again in a moment."
    where = f", and answers at {owner.address}" if owner.address else ""
    mend = "ask it there" if owner.address else "wait for it to end"
    return (
        f"The data directory {directory} is held by process {owner.pid} since {owner.since}{where}; "
        f"{mend}, stop it (kill {owner.pid}), or set LOOM_DATA_DIR to another directory."
    )
