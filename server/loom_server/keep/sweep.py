"""The sweep: what a crash left half done is finished or dropped, and the roll-ups around it rebuilt.

    an orphan           its rows are dropped
    a stale version     its flags go down, then it is marked superseded
    a raised version    its flags go down
    roll-ups            rebuilt in every namespace of these, and of the last moments before the crash

The last is told by the row ids, which a sweep does not change, so one that is itself cut short is simply
done again. It runs at a start after an unclean stop, before writes are accepted; while a service runs it
goes through `MemoryWriter.between_groups`, since a group that is just being written looks like one that
was cut short.

Limits: a live version that the index does not hold is reported and not mended. An org whose vectors are
of another model than the live one keeps its embed plane as it is; the report names its namespaces. The
rebuild of the embed plane reads the contents of the whole namespace: about a minute a million rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime

from loom_server.embed.base import Embedder
from loom_server.keep import evidence
from loom_server.model.scope import Scope
from loom_server.store.named import Row
from loom_server.store.rollups import Tokenizer, countable, mend
from loom_server.store.statistics import Statistics
from loom_server.store.store import Store
from loom_server.store.versions import Ending, drop, lower, supersede


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What a sweep did, in versions.

    `mended` are the namespaces whose roll-ups were off, `uncounted` those whose embed plane could not be compared.
    """

    dropped: int
    superseded: int
    lowered: int
    missing: int
    mended: tuple[tuple[str, str], ...]
    uncounted: tuple[tuple[str, str], ...]

    @property
    def quiet(self) -> bool:
        """Whether there was nothing to do."""
        return not (self.dropped or self.superseded or self.lowered or self.missing or self.mended)

    @property
    def whole(self) -> bool:
        """Whether nothing is left that a later sweep, under the org's own model, could still mend."""
        return not self.uncounted


def sweep(store: Store, embedder: Embedder, statistics: Statistics | None = None) -> SweepReport:
    """Sweep all tenants. Raises a `StoreError` where the store fails; the sweep may then be done again."""
    with ThreadPoolExecutor(1, thread_name_prefix="loom-sweep") as executor:
        broom = _Broom(store, executor)
        for orphans in evidence.orphans(store):
            broom.drop(orphans)
        for endings in evidence.stale(store):
            broom.finish(endings)
        for rows in evidence.raised(store):
            broom.lower(rows)
    tokenizer = Tokenizer(embedder.identity.name, embedder.tokens)
    touched = sorted(broom.touched | set(evidence.recent(store)))
    mended = [namespace for namespace in touched if mend(store, Scope(*namespace), tokenizer)]
    if statistics is not None:
        statistics.forget(mended)
    missing = sum(map(len, evidence.missing(store)))
    return SweepReport(
        len(broom.dropped),
        broom.superseded,
        broom.lowered,
        missing,
        tuple(mended),
        tuple(namespace for namespace in touched if not countable(store, Scope(*namespace), tokenizer)),
    )


@dataclass(slots=True)
class _Broom:
    store: Store
    executor: Executor
    dropped: set[Row] = field(default_factory=set[Row])
    superseded: int = 0
    lowered: int = 0
    touched: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def drop(self, rows: Sequence[Row]) -> None:
        drop(self.store, rows, self.executor)
        self.dropped.update(rows)

    def finish(self, endings: Sequence[Ending]) -> None:
        names = [Row(ending.key.org, ending.key.namespace, ending.id) for ending in endings]
        lower(self.store, names, self.executor)
        supersede(self.store, endings, datetime.now(UTC))
        self.superseded += len(endings)
        self.touched.update((row.org, row.namespace) for row in names)

    def lower(self, rows: Sequence[Row]) -> None:
        lower(self.store, rows, self.executor)
        self.lowered += len(rows)
        self.touched.update((row.org, row.namespace) for row in rows)
