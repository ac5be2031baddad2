"""One group of versions, from nothing to committed, statement by statement.

    1  vectors and postings of the new versions, side by side; meanwhile, what the old ones count
    2  `memory`: the commit; from here on the statistics of this process count it
    3  `superseded` on the old versions, so that no answer holds them any more
    4  later, for the groups of `SETTLE_S` together: the old versions' flags, and the roll-ups

An answer is given after step 3. Step 4 is owed: five inserts and three updates a group were twice as
slow as three and one, and left twice as many parts. Until it is paid, a leg may still nominate an old
version, which hydration drops, and another process would read roll-ups that lag.

What a crash leaves is seen afterwards: postings or vectors that `memory` does not know (before the
commit), a live row that is not its key's newest (before step 3), live flags of versions that are not
live (before step 4). Roll-ups that lag give no sign, so they lag within a bound: no group is committed
while something is owed since a commit that is half of `LAG_S` older by its row ids. The namespaces written
within `LAG_S` of the last commit are the only ones whose roll-ups a sweep must compare.

A group that fails while the process lives is put right at once in the same way, from what it knows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from loom_server.embed.base import Embedder
from loom_server.errors import ModelMismatch
from loom_server.ingest import stored
from loom_server.ingest.contest import contend
from loom_server.ingest.debts import Debts
from loom_server.ingest.judge import Judgement, Retired, Stored, Version, judge
from loom_server.ingest.projections import counts_of, embed_delta, memory_rows, net, posting_rows, vector_rows
from loom_server.ingest.request import Request, Write, without_vector
from loom_server.model.clock import Clock
from loom_server.model.memory import Key
from loom_server.store.named import Row
from loom_server.store.namespaces import Namespaces
from loom_server.store.process import Process
from loom_server.store.statistics import CommitDelta
from loom_server.store.store import Insert, Store
from loom_server.store.together import together
from loom_server.store.versions import Ending, drop, supersede

Ended = Callable[[Sequence[int]], None]
"""Told the ids of versions that have ended, after the engine and before the caller."""


def forget_nothing(ids: Sequence[int]) -> None:
    """What is told where nobody keeps rows."""


@dataclass(frozen=True, slots=True)
class Committer:
    """Commits judged groups, one at a time. `executor` runs the statements that go side by side."""

    store: Store
    embedder: Embedder
    namespaces: Namespaces
    clock: Clock
    process: Process
    debts: Debts
    executor: Executor
    ended: Ended = forget_nothing

    def judge(self, requests: Sequence[Request]) -> Judgement:
        """Decide what the requests come to, by what is stored; holds a new org to the live model."""
        claims = self.process.claims
        return self._judge(requests) if claims is None else contend(self._judge, claims, requests)

    def _judge(self, requests: Sequence[Request]) -> Judgement:
        before = self._before(requests)
        judgement = judge(requests, before, self.process.ids.next, self.clock.now())
        live = self.embedder.identity.name
        orgs = {v.memory.identity.org for v in judgement.versions if v.write is not None and v.write.vector is not None}
        others = {org for org in orgs if self.namespaces.fix_model(org, live) != live}
        if not others:
            return judgement
        # Another process has fixed the org's model since the caller looked.
        stripped = [
            without_vector(request, ModelMismatch.code)
            if isinstance(request, Write) and request.key.org in others
            else request
            for request in requests
        ]
        return judge(stripped, before, self.process.ids.next, self.clock.now())

    def commit(self, judgement: Judgement) -> None:
        """Write the group. Raises the first error of the store; then `put_right` is due."""
        versions, retired = judgement.versions, judgement.retired
        if not versions:
            return
        last = versions[-1].memory.id
        # Before anything is inserted: a payment may rebuild roll-ups from the postings, and would count these.
        self.debts.before(last)
        going, *_ = together(
            self.executor,
            [
                partial(self._counts, retired),
                partial(self._insert, posting_rows(versions)),
                partial(self._insert, vector_rows(versions, self.embedder.identity.name)),
            ],
        )
        if self.process.claims is not None and judgement.claimed is not None:
            self.process.claims.check(judgement.claimed)
        self.store.insert(memory_rows(versions))
        self.debts.add(last, net([*counts_of(versions), *going]), [_old_row(old) for old in retired])
        self._end(retired, judgement.at)

    def put_right(self, judgement: Judgement) -> None:
        """After a failure: finish what is committed, drop what is not. May be done again."""
        versions = judgement.versions
        keys = {version.memory.key for version in versions}
        known = stored.committed(self.store, keys, [version.memory.id for version in versions])
        drop(self.store, [_row(version) for version in versions if version.memory.id not in known], self.executor)
        if not known and self.process.claims is not None and judgement.claimed is not None:
            self.process.claims.give_back(judgement.claimed)
        ended = [old for old in judgement.retired if old.successor in known]
        if known:
            # The commit may have come through while its answer did not, and then nothing is owed for it yet.
            self.debts.add(max(known), (), [_old_row(old) for old in ended])
            self.debts.doubt([(key.org, key.namespace) for key in keys], max(known))
        self.debts.pay()
        self._end(ended, judgement.at)

    @property
    def due(self) -> float | None:
        """When `settle` should be called, in monotonic seconds."""
        return self.debts.due

    def settle(self) -> None:
        """Pay what the groups owe."""
        self.debts.pay()

    def _counts(self, retired: Sequence[Retired]) -> list[CommitDelta]:
        """What ending the old versions takes from the roll-ups."""
        if not retired:
            return []
        versions = [(old.key, old.id) for old in retired]
        tokens: defaultdict[tuple[str, str], list[Sequence[str]]] = defaultdict(list)
        for org, namespace, content in stored.embedded(self.store, versions, self.embedder.identity.name):
            tokens[org, namespace].append(self.embedder.tokens(content))
        embedded = [embed_delta(*namespace, found) for namespace, found in tokens.items()]
        counted = stored.counted(self.store, [_old_row(old) for old in retired])
        return [delta.negated() for delta in (*counted, *embedded)]

    def _before(self, requests: Sequence[Request]) -> dict[Key, Stored]:
        """What is stored under the keys, with traits where one of the requests brings the same value."""
        found = stored.newest(self.store, {request.key for request in requests})
        hashes = {(request.key, request.sha256) for request in requests if isinstance(request, Write)}
        same = {key: one for key, one in found.items() if (key, one.sha256) in hashes}
        return {**found, **stored.with_traits(self.store, same)}

    def _end(self, retired: Sequence[Retired], at: datetime) -> None:
        supersede(self.store, [Ending(old.key, old.id, old.successor) for old in retired], at)
        self.ended([old.id for old in retired])

    def _insert(self, insert: Insert) -> list[CommitDelta]:
        self.store.insert(insert)
        return []


def _row(version: Version) -> Row:
    key = version.memory.key
    return Row(key.org, key.namespace, version.memory.id)


def _old_row(old: Retired) -> Row:
    return Row(old.key.org, old.key.namespace, old.id)
