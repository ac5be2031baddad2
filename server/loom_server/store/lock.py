"""One process owns a data directory: an advisory lock on `loom.lock`, taken before the engine opens.

The file tells who holds it (JSON: pid, since, address) and, after a close, whether that close was
clean. The system lets go of the lock when its process ends in whatever way, so a lock left by a
killed process is simply taken; only its file then says that the close was not clean.

The engine itself answers a second process with a riddle (`Code: 36`), hence our own lock first.
POSIX only: elsewhere the start is refused. Not meant for network file systems.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from loom_server.errors import StoreLocked, StoreUnavailable

try:
    import fcntl
except ImportError:
    fcntl = None

LOCK_FILE = "loom.lock"


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
        try:
            directory.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StoreUnavailable(
                f"The data directory {directory} cannot be used ({error.strerror}); set LOOM_DATA_DIR to one that can."
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            before = _read(descriptor)
            os.close(descriptor)
            raise StoreLocked(_refusal(directory, before)) from error
        before = _read(descriptor)
        owner = Owner(os.getpid(), datetime.now(UTC).isoformat(timespec="seconds"))
        _write(descriptor, owner)
        return cls(directory, descriptor, owner, before is not None and before.clean)

    def publish_address(self, url: str) -> None:
        """Tell a second process where this one answers."""
        self._owner = replace(self._owner, address=url)
        _write(self._descriptor, self._owner)

    def release(self, *, clean: bool) -> None:
        """Let the directory go. `clean` says that nothing was left half written."""
        if self._descriptor < 0:
            return
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


def _read(descriptor: int) -> Owner | None:
    try:
        return Owner(**json.loads(os.pread(descriptor, 65_536, 0)))
    except (ValueError, TypeError):
        return None


def _write(descriptor: int, owner: Owner) -> None:
    text = json.dumps(asdict(owner)).encode()
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
