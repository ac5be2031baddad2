"""The store contract: bound statements in, columns out.

A tenant's table is read and changed only through a `Statement` made by
`store/statement.py`, which cannot be made without a `Scope`. The engine itself has no
transactions; `ingest/memory.py` orders its inserts so that the last one is the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from numpy.typing import NDArray

from loom_server.model.deadline import Deadline


@dataclass(frozen=True, slots=True)
class Statement:
    """A named statement with bound parameters. The name goes to metrics and the engine's log."""

    name: str
    sql: str
    parameters: Mapping[str, object] = field(default_factory=dict[str, object])
    settings: Mapping[str, int | str] = field(default_factory=dict[str, int | str])


@dataclass(frozen=True, slots=True)
class Columns:
    """A result: column names and one sequence a column, all of one length."""

    names: tuple[str, ...]
    data: tuple[Sequence[object], ...]

    def __len__(self) -> int:
        return len(self.data[0]) if self.data else 0

    def column(self, name: str) -> Sequence[object]:
        """One column by its name; empty where the result has no rows."""
        return self.data[self.names.index(name)] if self.data else ()

    def rows(self) -> list[tuple[object, ...]]:
        """The result as rows."""
        return list(zip(*self.data, strict=True))


@dataclass(frozen=True, slots=True)
class Insert:
    """Rows for one table, as columns of equal length. An array column may be a matrix, one row a row."""

    table: str
    columns: tuple[str, ...]
    data: tuple[Sequence[object] | NDArray[Any], ...]

    def __len__(self) -> int:
        return len(self.data[0]) if self.data else 0


OTHERS_SEEN_S = 1.0
"""How old what a process keeps of a shared store may be."""

Outcome = Literal["ok", "deadline", "cancelled", "exhausted", "failed"]
Observer = Callable[[str, float, int, Outcome], None]
"""Told after each statement: its name, seconds, rows and outcome."""


@runtime_checkable
class Pooled(Protocol):
    """A store whose statements share a number of clients."""

    @property
    def clients_in_use(self) -> int:
        """Clients that run a statement now."""
        ...


class Store(Protocol):
    """The engine behind one interface; every method is safe from many threads."""

    @property
    def shared(self) -> bool:
        """Whether other processes read and write the same tables meanwhile."""
        ...

    def query(self, statement: Statement, deadline: Deadline | None = None) -> Columns:
        """Run a read. Raises a `StoreError`, `DeadlineExceeded` or `Cancelled`."""
        ...

    def insert(self, insert: Insert) -> None:
        """Append rows; when it returns they are on disk."""
        ...

    def command(self, statement: Statement) -> None:
        """Run a statement that returns nothing (DDL, UPDATE)."""
        ...

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Tell `observer` of every statement from now on; call the answer to stop."""
        ...

    def doubt(self) -> None:
        """Say that something was left half done, so that the next start sweeps."""
        ...

    def close(self) -> None:
        """Finish running statements and let the engine go."""
        ...
