"""`loom ingest`: files and folders into memories, with a bar; a second run adds nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from loom_server.cli.command import DONE, FAILED, Shell
from loom_server.cli.door import Door, open_door
from loom_server.cli.screen import Screen, counted
from loom_server.ingest.files.entry import Owner
from loom_server.ingest.files.load import Progress, Report, ingest_path
from loom_server.ingest.files.row import Bounds, Fault

ABOVE_A_ROW = 2
"""Levels of a body above its rows: the object, and the list of items in it."""

MOST_TOLD = 20
"""Faults of one kind that are told one by one; `--json` has them all."""

Paths = Annotated[
    list[Path],
    typer.Argument(help="Files or folders: Markdown, text, JSONL of memories, JSON chats."),
]


def ingest(shell: Shell, paths: Paths) -> int:
    """Load files and folders; what cannot be read is named, and the rest goes on."""
    owner = Owner(**shell.identity)
    with open_door(shell.settings) as door:
        bounds = Bounds(nesting=shell.settings.max_nesting - ABOVE_A_ROW)
        reports = [load(path, door, owner, shell.screen, bounds) for path in paths]
    if shell.screen.as_json:
        shell.screen.data([_plain(path, report) for path, report in zip(paths, reports, strict=True)])
    for path, report in zip(paths, reports, strict=True):
        shell.screen.show(summary(str(path), report))
        for line in faults(report):
            shell.screen.say(line)
    return FAILED if any(report.failed for report in reports) else DONE


def load(path: Path, door: Door, owner: Owner, screen: Screen, bounds: Bounds | None = None) -> Report:
    """One path, with a bar."""
    with screen.progress(f"Loading {path.name or path}") as advance:

        def watch(progress: Progress) -> None:
            advance(progress.done / max(1, progress.total), progress.file)

        return ingest_path(path, door, owner, watch, bounds)


def summary(path: str, report: Report) -> str:
    """What the run did, in a line."""
    return (
        f"{path}: {counted(report.files, 'file')}, {counted(report.rows, 'row')}: {report.written} written, "
        f"{report.unchanged} unchanged, {report.removed} removed; "
        f"{len(report.failed)} failed, {len(report.skipped)} skipped"
    )


def faults(report: Report) -> Iterator[str]:
    """What was not read: each failure, and what was skipped counted by its reason."""
    yield from _first(report.failed)
    for reason, count in Counter(fault.reason for fault in report.skipped).items():
        names = [fault.file for fault in report.skipped if fault.reason == reason]
        yield f"skipped ({reason}): {', '.join(names[:3])}{f' and {count - 3} more' if count > 3 else ''}"


def _first(failed: Sequence[Fault]) -> Iterator[str]:
    yield from (f"failed: {fault}" for fault in failed[:MOST_TOLD])
    if len(failed) > MOST_TOLD:
        yield f"and {len(failed) - MOST_TOLD} more failed; --json lists them all"


def _plain(path: Path, report: Report) -> dict[str, object]:
    counts = {name: value for name, value in asdict(report).items() if name != "faults"}
    told = {"failed": report.failed, "skipped": report.skipped}
    return {"path": str(path), **counts, **{name: [str(fault) for fault in some] for name, some in told.items()}}
