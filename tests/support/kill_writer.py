"""A process that opens a data directory, judges what the one before left, writes, and is killed.

    python kill_writer.py DIRECTORY PLEDGES storm                      write from four threads until killed
    python kill_writer.py DIRECTORY PLEDGES cycle                      one cycle of writes, and a clean close
    python kill_writer.py DIRECTORY PLEDGES cycle NAME NUMBER WHEN     die before or after a statement of the cycle
    python kill_writer.py DIRECTORY PLEDGES sweep NUMBER               die at that statement of the sweep, or after it
    python kill_writer.py DIRECTORY PLEDGES look                       look, and close cleanly

PLEDGES is a JSON file with what the processes before were answered: `values`, what may live under a key
(null for nothing), and `rows`, the value of each row id that was acknowledged. One JSON line a fact goes to
standard output, flushed: `found` (what is wrong with the store after its sweep: nothing, one hopes), `means`
(a write that begins), `done` (its answer), and at the end of a cycle `asked` (its statements, in order).

Nothing in the service knows of this: a store that kills the process stands between the writer and the engine.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from loom_server.embed.hashed import HashedEmbedder
from loom_server.ingest.memory import MemoryWriter
from loom_server.keep.integrity import check
from loom_server.keep.sweep import sweep
from loom_server.model.clock import SystemClock
from loom_server.model.deadline import Deadline
from loom_server.model.memory import Draft, Key, WriteOutcome
from loom_server.model.scope import Identity
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.migrate import migrate
from loom_server.store.passing import PassingStore
from loom_server.store.statistics import Statistics
from loom_server.store.store import Columns, Insert, Statement, Store

ORG, PATIENCE_S, THREADS = "acme", 60.0, 4
HASH = HashedEmbedder(dimension=64)
_SAYING = threading.Lock()


def say(kind: str, **facts: Any) -> None:
    with _SAYING:
        print(json.dumps({"kind": kind, **facts}), flush=True)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(slots=True)
class DeadlyStore(PassingStore):
    """A store that writes down what it is asked and, where `fatal` says so, kills the process then and there."""

    fatal: Callable[[str, int, int, bool], bool]
    armed: bool = True
    asked: list[str] = field(default_factory=list[str])
    names: Counter[str] = field(default_factory=Counter[str])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def query(self, statement: Statement, deadline: Deadline | None = None) -> Columns:
        with self._passing(statement.name):
            return self.store.query(statement, deadline)

    def insert(self, insert: Insert) -> None:
        if len(insert):
            with self._passing(f"insert.{insert.table}"):
                self.store.insert(insert)

    def command(self, statement: Statement) -> None:
        with self._passing(statement.name):
            self.store.command(statement)

    @contextmanager
    def _passing(self, name: str) -> Iterator[None]:
        if not self.armed:
            yield
            return
        with self.lock:
            self.asked.append(name)
            self.names[name] += 1
            number, occurrence = len(self.asked), self.names[name]
        if self.fatal(name, number, occurrence, False):
            die()
        yield
        if self.fatal(name, number, occurrence, True):
            die()


def rows_of(store: Store) -> list[tuple[Any, ...]]:
    """Every version: key, version, id, status, value, superseded_by, in order."""
    columns = "concat(namespace, ' ', memory_key), version, id, toString(status), value, superseded_by"
    return store.query(Statement("kill.rows", f"SELECT {columns} FROM loom.memory ORDER BY 1, 2")).rows()


def broken_promises(store: Store, pledges: dict[str, Any]) -> list[str]:
    """Acknowledged writes that are lost, and values that nobody wrote."""
    rows = rows_of(store)
    stored = {str(row[2]): row[4] for row in rows}
    live = {row[0]: row[4] for row in rows if row[3] == "live"}
    lost = [f"row {row_id} is not {value}" for row_id, value in pledges["rows"].items() if stored.get(row_id) != value]
    keys = pledges["values"].keys() | live.keys()
    strange = [key for key in keys if live.get(key) not in pledges["values"].get(key, [None])]
    return lost + [f"{key} holds {live.get(key)!r}, not one of {pledges['values'].get(key)}" for key in strange]


def broken_chains(store: Store) -> list[str]:
    """Keys whose versions do not follow one another."""
    wrong: list[str] = []
    for key, group in groupby(rows_of(store), key=lambda row: row[0]):
        versions = list(group)
        numbers = [row[1] for row in versions]
        ends = [
            (row[3] == "superseded" and row[5] == after[2]) or row[3] == "tombstoned"
            for row, after in pairwise(versions)
        ]
        if numbers != list(range(1, len(versions) + 1)) or not all(ends) or versions[-1][3] == "superseded":
            wrong.append(f"{key}: {[row[1:4] for row in versions]}")
    return wrong


def look(store: Store, pledges: dict[str, Any]) -> list[str]:
    """Everything that is wrong."""
    vectors = store.query(
        Statement(
            "kill.vectors",
            "SELECT id FROM loom.memory WHERE status = 'live'"
            " AND id NOT IN (SELECT id FROM loom.memory_embeddings WHERE live = 1)",
        )
    )
    unseen = [f"row {row[0]} has no vector" for row in vectors.rows()]
    return [*check(store, HASH).sentences, *broken_promises(store, pledges), *broken_chains(store), *unseen]


@dataclass(slots=True)
class Hand:
    """Writes and says so, before and after."""

    writer: MemoryWriter

    def set(self, *texts: tuple[str, str], namespace: str = "notes") -> None:
        """Pairs of key and text, in one call."""
        drafts = [Draft(Identity(ORG, namespace), key, f'"{text}"', text) for key, text in texts]
        for draft in drafts:
            say("means", key=f"{namespace} {draft.memory_key}", value=draft.value)
        answers = self.writer.write(drafts, Deadline(PATIENCE_S), "und")
        for draft, answer in zip(drafts, answers, strict=True):
            self._done(f"{namespace} {draft.memory_key}", draft.value, answer)

    def delete(self, key: str, namespace: str = "notes") -> None:
        name = f"{namespace} {key}"
        say("means", key=name, value=None)
        (answer,) = self.writer.delete([Key(ORG, namespace, "", "", "", key)], Deadline(PATIENCE_S))
        self._done(name, None, answer)

    def _done(self, name: str, value: str | None, answer: object) -> None:
        assert isinstance(answer, WriteOutcome), answer
        say("done", key=name, value=value, row=str(answer.row_id))

    def settle(self) -> None:
        self.writer.between_groups(lambda: None, Deadline(PATIENCE_S))


def storm(hand: Hand) -> None:
    """Sets, updates and deletes from several threads, each with keys of its own, until the end."""
    begun = os.getpid()

    def run(thread: int) -> None:
        for number in range(1_000_000):
            key = f"{begun}/{thread}/{number // 3}"
            if number % 3 == 2 and number % 2:
                hand.delete(key, namespace=f"n{thread % 2}")
            else:
                hand.set((key, f"storm {thread} {number}"), namespace=f"n{thread % 2}")

    for thread in range(THREADS):
        threading.Thread(target=run, args=(thread,), daemon=True).start()
    threading.Event().wait()


def cycle(hand: Hand, store: DeadlyStore) -> None:
    """What a service does, each part once: a new key, a new value, a delete, and the settling of it."""
    key = str(os.getpid())
    hand.set((f"{key}/a", "first a"), (f"{key}/b", "first b"))
    hand.settle()
    store.armed = True
    hand.set((f"{key}/a", "second a"), (f"{key}/c", "first c"))
    hand.delete(f"{key}/b")
    hand.settle()
    say("asked", names=list(store.asked))


def writer_over(store: Store) -> MemoryWriter:
    return MemoryWriter(store, HASH, Statistics(store), SystemClock(), Settings())


def main(directory: str, pledges: str, mode: str, *rest: str) -> None:
    store = EmbeddedStore(Path(directory), clients=5)
    migrate(store)
    if mode == "sweep":
        sweep(DeadlyStore(store, lambda name, number, occurrence, after: number == int(rest[0])), HASH)
        die()
    if not store.was_clean and sweep(store, HASH).whole:
        store.settle()
    say("found", wrong=look(store, json.loads(Path(pledges).read_text())), clean=store.was_clean)
    if mode == "storm":
        storm(Hand(writer_over(store)))
    if mode == "cycle":
        name, number, when = rest or ("", "0", "")
        point = (name, int(number), when == "after")
        deadly = DeadlyStore(
            store, lambda asked, _, occurrence, after: (asked, occurrence, after) == point, armed=False
        )
        hand = Hand(writer_over(deadly))
        cycle(hand, deadly)
        if rest:
            die()
        hand.writer.close()
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
