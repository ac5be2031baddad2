"""What a process that died left on a store that others go on writing to: finished or dropped by one of them.

    orphans     index rows of its ids that `memory` does not hold: dropped
    stale       older live versions of the keys that it wrote: their flags go down, then they are marked superseded
    ended       versions that its own ended: their flags go down again
    roll-ups    of the namespaces that it wrote last: compared with a rebuild, and mended

Its ids carry its number's remainder by 1024 and no other living process's, so nothing that is being written is taken
for something that was left. One sweeps at a time, by a claim.

A namespace's roll-ups are compared while it is quiet: no row of it is younger than QUIET_S, neither before nor after
the comparison. Whatever was owed for older rows is paid by then. A busy namespace is left for a later round, and the
process stays among the fallen until each of its namespaces has had a quiet moment.

Limits: the clocks of the processes must agree within some seconds. A namespace that is written without a pause keeps
counts that may be off by what the process owed, a few seconds of writes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from loom_server.keep.evidence import endings_of
from loom_server.model.clock import IDS_PER_MICROSECOND, Clock, RowIds, ids_in
from loom_server.model.memory import Key
from loom_server.model.scope import Scope
from loom_server.store.claims import Claim, Claimed, Claims
from loom_server.store.named import Row
from loom_server.store.process import Fallen, Process, fallen, swept
from loom_server.store.rollups import Tokenizer, drift
from loom_server.store.statement import Template
from loom_server.store.statistics import roll_ups
from loom_server.store.store import Statement, Store
from loom_server.store.versions import drop, lower, supersede

REACH_S = 180.0
"""How long before it was last seen a dead process may have begun what it left."""
QUIET_S = 30.0
SWEEP_WITHIN_S = 900.0
"""Longest time from a claim to the last insert that it is for."""

_OWN = "id >= {since:UInt64} AND id % {tags:UInt64} = {tag:UInt64}"
_ORPHANS = tuple(
    f"""
    SELECT DISTINCT org, namespace, id
    FROM loom.{index} WHERE {_OWN}{more} AND id NOT IN (SELECT id FROM loom.memory WHERE {_OWN})
    """
    for index, more in (("memory_embeddings", ""), ("postings", " AND plane = 'fact' AND token = ''"))
)
_COMMITTED = f"SELECT DISTINCT org, namespace FROM loom.memory WHERE {_OWN} ORDER BY org, namespace"
_ENDED = f"""
SELECT org, namespace, id
FROM loom.memory
WHERE {_OWN.replace("id ", "superseded_by ")}
"""
_STALE = f"""
SELECT org, namespace, agent, user_id, session_id, memory_key,
    argMax(id, (version, id)) AS newest,
    arrayFilter(one -> one != newest, groupArrayIf(id, status = 'live')) AS stale
FROM loom.memory
WHERE (org, namespace, agent, user_id, session_id, memory_key)
    IN (SELECT org, namespace, agent, user_id, session_id, memory_key FROM loom.memory WHERE {_OWN})
GROUP BY org, namespace, agent, user_id, session_id, memory_key
HAVING notEmpty(stale)
"""
_UNSETTLED = Template(
    "neighbours.unsettled",
    """
    SELECT
        (SELECT count() FROM loom.memory WHERE /*scope*/ AND id >= {since:UInt64})
        + (SELECT count() FROM loom.postings
           WHERE /*scope*/ AND plane = 'fact' AND token = '' AND id >= {since:UInt64}) AS rows
    """,
)


@dataclass(frozen=True, slots=True)
class NeighbourReport:
    """What was done after one process; `busy` namespaces have not been compared yet."""

    number: int
    dropped: int
    superseded: int
    lowered: int
    mended: tuple[tuple[str, str], ...]
    busy: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Sweeps after the other processes of a store than the one of `number`, which `claims` for it."""

    store: Store
    number: int
    claims: Claims
    clock: Clock
    tokenizer: Tokenizer
    quiet_s: float = QUIET_S

    @classmethod
    def of(cls, store: Store, process: Process, clock: Clock, tokenizer: Tokenizer) -> Neighbours | None:
        """Those of a process; None where it has none."""
        if process.membership is None or process.claims is None:
            return None
        return cls(store, process.membership.number, process.claims, clock, tokenizer)

    def sweep(self, gone_s: float) -> list[NeighbourReport]:
        """Sweep after each process that nobody else sweeps after and that was not seen for `gone_s` seconds.

        Raises a `StoreError` where the store fails; the sweep may then be done again.
        """
        reports: list[NeighbourReport] = []
        for one in self._fallen(gone_s):
            claimed = self._claim(Key("-", "-", "sweep", "", "", ""), one.number)
            # Another may have finished between the look and the claim.
            if not claimed.contested and one in self._fallen(gone_s):
                reports.append(self._after(one, claimed))
            elif not claimed.contested:
                self.claims.give_back(claimed)
        return reports

    def mend(self, org: str, namespace: str) -> bool | None:
        """Compare the roll-ups of a namespace with a rebuild, and add what they lack.

        Answers whether they lacked something, and None where the namespace is busy or another compares it.
        """
        claimed = self._claim(Key(org, namespace, "sweep", "", "", ""), 0)
        if claimed.contested:
            return None
        try:
            return self._mend(Scope(org, namespace), claimed)
        finally:
            self.claims.give_back(claimed)

    def _fallen(self, gone_s: float) -> list[Fallen]:
        return [one for one in fallen(self.store, gone_s) if one.number != self.number]

    def _claim(self, key: Key, version: int) -> Claimed:
        return self.claims.take([Claim(key, version)], time.monotonic(), SWEEP_WITHIN_S)

    def _after(self, one: Fallen, claimed: Claimed) -> NeighbourReport:
        left = _Left(self.store, one)
        with ThreadPoolExecutor(1, thread_name_prefix="loom-sweep") as executor:
            dropped, superseded, lowered = left.drop(executor), left.finish(executor), left.lower(executor)
        namespaces = left.namespaces()
        found = {name: self.mend(*name) for name in namespaces}
        busy = tuple(name for name, mended in found.items() if mended is None)
        if busy:
            self.claims.give_back(claimed)
        else:
            swept(self.store, one)
        mended = tuple(name for name, mended in found.items() if mended)
        return NeighbourReport(one.number, dropped, superseded, lowered, mended, busy)

    def _mend(self, scope: Scope, claimed: Claimed) -> bool | None:
        since = RowIds(self.clock).next() - ids_in(self.quiet_s)
        if self._busy(scope, since):
            return None
        lacking = drift(self.store, scope, self.tokenizer)
        if self._busy(scope, since):
            return None
        self.claims.check(claimed)
        for insert in roll_ups(lacking):
            self.store.insert(insert)
        return bool(lacking)

    def _busy(self, scope: Scope, since: int) -> bool:
        return bool(self.store.query(_UNSETTLED.bind(scope, {"since": since})).column("rows")[0])


class _Left:
    """What one process left."""

    def __init__(self, store: Store, one: Fallen) -> None:
        self._store = store
        self._parameters = {
            "since": max(0, one.last * IDS_PER_MICROSECOND - ids_in(REACH_S)),
            "tags": IDS_PER_MICROSECOND,
            "tag": one.number % IDS_PER_MICROSECOND,
        }

    def drop(self, executor: Executor) -> int:
        """Drop orphans; answers with how many."""
        orphans = {
            row for sql in _ORPHANS for row in self._rows(Statement("neighbours.orphans", sql, self._parameters))
        }
        drop(self._store, sorted(orphans), executor)
        return len(orphans)

    def finish(self, executor: Executor) -> int:
        """End versions that should have been ended; answers with how many."""
        found = self._store.query(Statement("neighbours.stale", _STALE, self._parameters)).rows()
        endings = [ending for row in found for ending in endings_of(row)]
        lower(self._store, [Row(one.key.org, one.key.namespace, one.id) for one in endings], executor)
        supersede(self._store, endings, datetime.now(UTC))
        return len(endings)

    def lower(self, executor: Executor) -> int:
        """Lower what its versions ended; answers with how many they are."""
        ended = self._rows(Statement("neighbours.ended", _ENDED, self._parameters))
        lower(self._store, ended, executor)
        return len(ended)

    def namespaces(self) -> list[tuple[str, str]]:
        """Where it wrote last."""
        rows = self._store.query(Statement("neighbours.committed", _COMMITTED, self._parameters)).rows()
        return cast("list[tuple[str, str]]", rows)

    def _rows(self, statement: Statement) -> Sequence[Row]:
        return [Row(*cast("tuple[str, str, int]", row)) for row in self._store.query(statement).rows()]
