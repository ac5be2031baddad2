"""Files into the store, through whatever door is open.

Rows are judged by the wire model one by one and written in batches, so a wrong row costs
itself alone. A second run adds nothing:

- the store answers `unchanged` where a key holds the value already;
- a key that one JSONL file sets several times is a chain of versions, written where the store
  does not hold its last value, and left alone where it does;
- what a document or a chat no longer makes is deleted, unless a part of the file failed.

A file that is gone keeps its rows: nothing is deleted because a folder was not there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from loom_server.ingest.files.batches import Batches
from loom_server.ingest.files.door import MemoryDoor
from loom_server.ingest.files.entry import Owner, entry_of
from loom_server.ingest.files.read import read
from loom_server.ingest.files.repeats import Chains, repeated
from loom_server.ingest.files.row import Bounds, Fault, Row, SourceFile
from loom_server.ingest.files.sweep import Made, sweep
from loom_server.ingest.files.walk import walk


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: bytes of the files whose rows are written, of all that will be read."""

    file: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did. `faults` are in the order in which they were met."""

    files: int
    rows: int
    written: int
    unchanged: int
    removed: int
    faults: tuple[Fault, ...]

    @property
    def failed(self) -> tuple[Fault, ...]:
        """What is broken."""
        return tuple(fault for fault in self.faults if fault.severity == "failed")

    @property
    def skipped(self) -> tuple[Fault, ...]:
        """What was left out on purpose."""
        return tuple(fault for fault in self.faults if fault.severity == "skipped")


Watch = Callable[[Progress], None]


def ingest_path(
    path: Path, door: MemoryDoor, owner: Owner | None = None, watch: Watch | None = None, bounds: Bounds | None = None
) -> Report:
    """Load a file or a folder. Raises the door's `LoomError` when the service fails as a whole."""
    found = tuple(walk(path))
    run = _Run(door, owner or Owner(), bounds or Bounds(), watch)
    run.faults += [fault for fault in found if isinstance(fault, Fault)]
    run.load(tuple(file for file in found if isinstance(file, SourceFile)))
    return run.report()


class _Run:
    """One run's counts, and how far it is."""

    def __init__(self, door: MemoryDoor, owner: Owner, bounds: Bounds, watch: Watch | None) -> None:
        self.door = door
        self.owner = owner
        self.bounds = bounds
        self.watch = watch
        self.batches = Batches(door, self._tell)
        self.faults: list[Fault] = []
        self.made: list[Made] = []
        self.files = self.rows = self.held = self.removed = 0
        self.file = ""
        self.done = self.total = 0

    def load(self, files: tuple[SourceFile, ...]) -> None:
        """Read and write all files, then delete what they no longer make."""
        self.total = sum(file.size for file in files)
        self._tell()
        before = 0
        for file in files:
            self._file(file, before)
            before += file.size
        self.batches.flush()
        self.faults += self.batches.tally.faults
        self._sweep()
        self.done = self.total
        self._tell()

    def report(self) -> Report:
        """The counts as a value."""
        tally = self.batches.tally
        return Report(
            self.files, self.rows, tally.written, tally.unchanged + self.held, self.removed, tuple(self.faults)
        )

    def _file(self, file: SourceFile, before: int) -> None:
        self.file = file.name
        made = Made(file)
        chains = Chains(repeated(file, self.owner, self.bounds))
        rows = self.rows
        for item in read(file, self.bounds):
            if isinstance(item, Fault):
                self.faults.append(item)
            else:
                self.done = before + item.offset
                self._row(item, made, chains)
        self._write_chains(chains)
        self.files += self.rows > rows
        if file.kind != "memories":
            self.made.append(made)

    def _row(self, row: Row, made: Made, chains: Chains) -> None:
        entry = entry_of(row, self.owner)
        if isinstance(entry, tuple):
            self.faults += entry
            return
        self.rows += 1
        if made.file.kind != "memories":
            made.add(entry)
        if not chains.holds(row, entry, self.owner):
            self.batches.add(row, entry)

    def _write_chains(self, chains: Chains) -> None:
        written = 0
        for chain in chains.missing(self.door):
            written += len(chain)
            for row, entry in chain:
                self.batches.add(row, entry)
        self.held += len(chains) - written

    def _sweep(self) -> None:
        broken = {fault.file for fault in self.faults if fault.severity == "failed"}
        for made in self.made:
            if made.file.name not in broken:
                self.removed += sweep(made, self.owner, self.door)

    def _tell(self) -> None:
        if self.watch:
            self.watch(Progress(self.file, self.done, self.total))
