"""A store whose reads wait at a gate, for calls that must still run while something else is looked at."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from loom_server.model.deadline import Deadline
from loom_server.store.passing import PassingStore
from loom_server.store.store import Columns, Insert, Statement


@dataclass(slots=True)
class GatedStore(PassingStore):
    """Reads whose name begins with one of `held`, and inserts into a table of `held`, wait for `gate`.

    `waiting` is released by each that has come to the gate.
    """

    held: tuple[str, ...] = ("leg.",)
    gate: threading.Event = field(default_factory=threading.Event)
    waiting: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def query(self, statement: Statement, deadline: Deadline | None = None) -> Columns:
        """Pass a read on, once the gate is open."""
        self._pass(statement.name, deadline)
        return self.store.query(statement, deadline)

    def insert(self, insert: Insert) -> None:
        """Pass an insert on, once the gate is open."""
        self._pass(f"insert.{insert.table}", None)
        self.store.insert(insert)

    def _pass(self, name: str, deadline: Deadline | None) -> None:
        if name.startswith(self.held):
            self.waiting.release()
            while not self.gate.wait(0.02):
                if deadline is not None:
                    deadline.check()
