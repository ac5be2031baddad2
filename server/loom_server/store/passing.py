"""A store in front of another. Everything passes; who derives from it changes what it is about, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loom_server.model.deadline import Deadline
from loom_server.store.store import Columns, Insert, Observer, Statement, Store


@dataclass(slots=True)
class PassingStore:
    """A `Store` that is `store`."""

    store: Store

    @property
    def shared(self) -> bool:
        """That of the store behind."""
        return self.store.shared

    def query(self, statement: Statement, deadline: Deadline | None = None) -> Columns:
        """Pass a read on."""
        return self.store.query(statement, deadline)

    def insert(self, insert: Insert) -> None:
        """Pass an insert on."""
        self.store.insert(insert)

    def command(self, statement: Statement) -> None:
        """Pass a command on."""
        self.store.command(statement)

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Pass an observer on."""
        return self.store.observe(observer)

    def doubt(self) -> None:
        """Pass a doubt on."""
        self.store.doubt()

    def close(self) -> None:
        """Close the store behind."""
        self.store.close()
