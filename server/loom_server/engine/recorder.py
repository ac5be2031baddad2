"""What one search writes down on its way: the milliseconds of its stages, and the statements
it ran with the rows they returned. `explain` only decides what of it is answered.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

from loom_server.model.deadline import Deadline
from loom_server.store.passing import PassingStore
from loom_server.store.store import Columns, Statement


@dataclass(slots=True)
class Trace:
    """A recorder that remembers."""

    stages: dict[str, float] = field(default_factory=dict[str, float])

    def stage(self, name: str, milliseconds: float) -> None:
        """Add to the time of a stage."""
        self.stages[name] = self.stages.get(name, 0.0) + milliseconds


@dataclass(slots=True)
class CountedStore(PassingStore):
    """A store that counts what one search reads through it."""

    statements: int = 0
    rows: int = 0
    _lock: Lock = field(default_factory=Lock)

    def query(self, statement: Statement, deadline: Deadline | None = None) -> Columns:
        """Run a read and count it."""
        found = self.store.query(statement, deadline)
        with self._lock:
            self.statements += 1
            self.rows += len(found)
        return found

    def close(self) -> None:
        """The store belongs to the service; one search does not close it."""
