"""Which files a path stands for, in name order.

A folder is walked with its symbolic links followed, each real folder once: a link back
is a fault, not a loop. Hidden entries, kinds that no reader knows and what is no regular
file (a pipe would block its reader) are skipped by name.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from loom_server.ingest.files.names import printable
from loom_server.ingest.files.row import Fault, FileKind, SourceFile

KINDS: Mapping[str, FileKind] = MappingProxyType(
    {
        ".md": "markdown",
        ".markdown": "markdown",
        ".txt": "text",
        ".rst": "text",
        ".jsonl": "memories",
        ".json": "chat",
    }
)


def walk(root: Path) -> Iterator[SourceFile | Fault]:
    """Every file under `root`, or `root` itself; names start with the root's own name."""
    root = root.absolute()
    name = printable(root.resolve().name)
    if not root.exists():
        yield Fault(printable(str(root)), "", "no such file or folder")
    elif root.is_dir():
        yield from _folder(root, name, {os.path.realpath(root)})
    else:
        yield _file(root, name)


def _folder(folder: Path, name: str, seen: set[str]) -> Iterator[SourceFile | Fault]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        yield Fault(name, "", f"the folder cannot be read: {error.strerror}")
        return
    for entry in entries:
        place = f"{name}/{printable(entry.name)}"
        if entry.name.startswith("."):
            yield Fault(place, "", "hidden", "skipped")
        elif entry.is_dir():
            yield from _descend(entry, place, seen)
        else:
            yield _file(entry, place)


def _descend(folder: Path, place: str, seen: set[str]) -> Iterator[SourceFile | Fault]:
    real = os.path.realpath(folder)
    if real in seen:
        yield Fault(place, "", "a link to a folder that is read already", "skipped")
        return
    seen.add(real)
    yield from _folder(folder, place, seen)


def _file(path: Path, name: str) -> SourceFile | Fault:
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        return Fault(name, "", f"not a kind that is read; known are {', '.join(KINDS)}", "skipped")
    try:
        status = path.stat()
    except OSError as error:
        return Fault(name, "", f"cannot be opened: {error.strerror}")
    if not stat.S_ISREG(status.st_mode):
        return Fault(name, "", "not a regular file", "skipped")
    return SourceFile(path, name, kind, status.st_size)
