"""Drafts, writers and what they leave in the tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from loom_server.embed.base import Embedder
from loom_server.embed.hashed import HashedEmbedder
from loom_server.errors import StoreUnavailable
from loom_server.ingest.memory import MemoryWriter
from loom_server.keep.evidence import missing, namespaces, orphans, raised, stale
from loom_server.model.clock import Clock, SystemClock
from loom_server.model.deadline import Deadline
from loom_server.model.memory import Draft, Key, WriteOutcome
from loom_server.model.scope import Identity, Scope
from loom_server.settings import Settings
from loom_server.store.passing import PassingStore
from loom_server.store.rollups import Tokenizer, drift
from loom_server.store.statistics import Statistics
from loom_server.store.store import Columns, Insert, Statement, Store

NAMESPACE = "notes"
PATIENCE_S = 60.0
HASH = HashedEmbedder()


def a_draft(org: str, memory_key: str = "k", text: str = "a red fox", **fields: Any) -> Draft:
    """A draft whose value is its text; `namespace`, `agent` and the like go into its identity."""
    names = ("namespace", "agent", "user_id", "session_id", "run_id")
    identity = {"namespace": NAMESPACE, **{name: fields.pop(name) for name in names if name in fields}}
    return Draft(Identity(org, **identity), memory_key, f'"{text}"', text, **fields)


def a_key(org: str, memory_key: str = "k", namespace: str = NAMESPACE) -> Key:
    return Key(org, namespace, "", "", "", memory_key)


@dataclass(slots=True)
class SetClock:
    """A clock that stands until it is moved."""

    moment: datetime = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return self.moment.timestamp()

    def move(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


@contextmanager
def writing(
    store: Store,
    embedder: Embedder = HASH,
    statistics: Statistics | None = None,
    clock: Clock | None = None,
    **settings: Any,
) -> Iterator[MemoryWriter]:
    """A writer over `store`, closed at the end."""
    given = Settings(**settings)
    writer = MemoryWriter(store, embedder, statistics or Statistics(store), clock or SystemClock(), given)
    try:
        yield writer
    finally:
        writer.close()


def write(writer: MemoryWriter, *drafts: Draft) -> tuple[WriteOutcome, ...]:
    """Write and expect each draft to be stored."""
    answers = writer.write(drafts, Deadline(PATIENCE_S))
    assert all(isinstance(answer, WriteOutcome) for answer in answers), answers
    return cast("tuple[WriteOutcome, ...]", answers)


def delete(writer: MemoryWriter, *keys: Key) -> tuple[WriteOutcome, ...]:
    """Delete and expect each key to have been there."""
    answers = writer.delete(keys, Deadline(PATIENCE_S))
    assert all(isinstance(answer, WriteOutcome) for answer in answers), answers
    return cast("tuple[WriteOutcome, ...]", answers)


def settle(writer: MemoryWriter) -> None:
    """Pay what the writer owes."""
    writer.between_groups(lambda: None, Deadline(PATIENCE_S))


def versions(store: Store, org: str, columns: str = "memory_key, version, toString(status)") -> list[tuple[Any, ...]]:
    """The org's versions by namespace, key and version."""
    return table(store, "memory", org, columns, "namespace, memory_key, version")


def table(store: Store, name: str, org: str, columns: str, order: str = "ALL") -> list[tuple[Any, ...]]:
    """Rows of a table of the org."""
    sql = f"SELECT {columns} FROM loom.{name} WHERE org = {{org:String}} ORDER BY {order}"
    return store.query(Statement("test.table", sql, {"org": org})).rows()


def live_ids(store: Store, org: str, name: str) -> set[int]:
    """The ids whose flags are up in an index."""
    where = " AND token = ''" if name == "postings" else ""
    sql = f"SELECT id FROM loom.{name} WHERE org = {{org:String}} AND live = 1{where}"
    return {cast(int, row[0]) for row in store.query(Statement("test.live", sql, {"org": org})).rows()}


def roll_ups_of(store: Store, org: str) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The org's `token_df` and `corpus_stats`, summed."""
    tokens = "SELECT namespace, plane, token, sum(df) AS d, sum(cf) AS c FROM loom.token_df"
    corpus = "SELECT namespace, plane, sum(docs) AS d, sum(length) AS c FROM loom.corpus_stats"
    where, having = "WHERE org = {org:String} GROUP BY ALL", "HAVING d != 0 OR c != 0 ORDER BY ALL"
    found = [
        store.query(Statement("test.roll_ups", f"{sql} {where} {having}", {"org": org})).rows()
        for sql in (tokens, corpus)
    ]
    return found[0], found[1]


def damage(store: Store, sql: str, **parameters: object) -> None:
    """Change a table behind the service's back."""
    settings = {"lightweight_delete_mode": "lightweight_update"} if sql.startswith("DELETE") else {}
    store.command(Statement("test.damage", sql, parameters, settings))


def change(store: Store, sql: str, org: str, row_id: int) -> None:
    """`damage` to one version's rows; the statement lacks its condition."""
    damage(store, f"{sql} WHERE org = {{org:String}} AND id = {{id:UInt64}}", org=org, id=row_id)


def sound(store: Store, org: str, embedder: Embedder = HASH) -> bool:
    """Whether the org's rows are as finished writes leave them, and its roll-ups equal a rebuild."""
    found = [row for pages in (orphans, raised, missing) for page in pages(store) for row in page if row.org == org]
    found += [ending for page in stale(store) for ending in page if ending.key.org == org]
    tokenizer = Tokenizer(embedder.identity.name, embedder.tokens)
    scopes = [Scope(one, name) for one, name in namespaces(store) if one == org]
    found += [lacking for scope in scopes for lacking in drift(store, scope, tokenizer)]
    return not found


@dataclass(slots=True)
class FailingStore(PassingStore):
    """A real store, of which the statements that `broken` names fail: before they run, or `after` they did."""

    broken: set[str] = field(default_factory=set[str])
    after: bool = False
    asked: list[str] = field(default_factory=list[str])

    def query(self, statement: Statement, deadline: Deadline | None = None) -> Columns:
        with self._failing(statement.name):
            return self.store.query(statement, deadline)

    def insert(self, insert: Insert) -> None:
        with self._failing(f"insert.{insert.table}"):
            self.store.insert(insert)

    def command(self, statement: Statement) -> None:
        with self._failing(statement.name):
            self.store.command(statement)

    @contextmanager
    def _failing(self, name: str) -> Iterator[None]:
        self.asked.append(name)
        if name in self.broken and not self.after:
            raise StoreUnavailable(f"broken on purpose: {name}")
        yield
        if name in self.broken:
            raise StoreUnavailable(f"broken on purpose, after it ran: {name}")
