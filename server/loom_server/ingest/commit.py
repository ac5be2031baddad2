"""One group of versions, from nothing to committed, statement by statement.

    1  vectors and postings of the new versions, side by side; meanwhile, what the old ones count
    2  the roll-ups: what comes, less what the superseded count
    3  `memory`: the commit
    4  the roll-ups, less what the removed count; the old versions' flags
    5  `superseded` on the old versions

Whatever a crash leaves is seen afterwards. Before the commit: postings or vectors of a row that
`memory` does not know. After it: a live row that is not the newest version of its key, since step 5
is the last. The roll-ups of a namespace in which either is seen are rebuilt; they are exact in every
other, because step 2 comes after the postings that give it away, and step 4 before step 5. A removal
writes no postings, hence its counts only go down once its tombstone is there.

A group that fails while the process lives is put right at once in the same way, from what it knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

from loom_server.embed.base import Embedder
from loom_server.errors import ModelMismatch
from loom_server.ingest import stored
from loom_server.ingest.judge import Judgement, Retired, Version, judge
from loom_server.ingest.projections import Tally, embed_delta, memory_rows, posting_rows, vector_rows
from loom_server.ingest.request import Request, Write, without_vector
from loom_server.model.clock import Clock, RowIds
from loom_server.model.scope import Scope
from loom_server.store.named import Row
from loom_server.store.namespaces import Namespaces
from loom_server.store.rollups import Tokenizer, mend
from loom_server.store.statistics import CommitDelta, Statistics, roll_ups
from loom_server.store.store import Insert, Store
from loom_server.store.together import together
from loom_server.store.versions import Ending, drop, lower, supersede


@dataclass(frozen=True, slots=True)
class Committer:
    """Commits judged groups, one at a time. `executor` runs the statements that go side by side."""

    store: Store
    statistics: Statistics
    embedder: Embedder
    namespaces: Namespaces
    clock: Clock
    ids: RowIds
    executor: Executor

    def judge(self, requests: Sequence[Request]) -> Judgement:
        """Decide what the requests come to, by what is stored; holds a new org to the live model."""
        before = stored.newest(self.store, {request.key for request in requests})
        judgement = judge(requests, before, self.ids.next, self.clock.now())
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
        return judge(stripped, before, self.ids.next, self.clock.now())

    def commit(self, judgement: Judgement) -> None:
        """Write the group. Raises the first error of the store; then `put_right` is due."""
        versions, retired = judgement.versions, judgement.retired
        if not versions:
            return
        coming, going = Tally(), Tally()
        for version in versions:
            coming.add_version(version)
        superseded, removed, *_ = together(
            self.executor,
            [
                partial(self._counts, [old for old in retired if not old.removed]),
                partial(self._counts, [old for old in retired if old.removed]),
                partial(self._insert, posting_rows(versions)),
                partial(self._insert, vector_rows(versions, self.embedder.identity.name)),
            ],
        )
        for delta in superseded:
            coming.add(delta.negated())
        for delta in removed:
            going.add(delta.negated())
        self._roll_up(coming.deltas())
        self.store.insert(memory_rows(versions))
        self._roll_up(going.deltas())
        lower(self.store, [_old_row(old) for old in retired], self.executor)
        supersede(self.store, [_ending(old) for old in retired], judgement.at)

    def put_right(self, judgement: Judgement) -> None:
        """After a failure: finish what is committed, drop what is not, rebuild the roll-ups. May be done again.

        What gives the failure away goes last, as in a sweep, so that a crash in here loses nothing either.
        """
        versions = judgement.versions
        keys = {version.memory.key for version in versions}
        known = stored.committed(self.store, keys, [version.memory.id for version in versions])
        orphans = [_row(version) for version in versions if version.memory.id not in known]
        ended = [old for old in judgement.retired if old.successor in known]
        lower(self.store, [*orphans, *map(_old_row, ended)], self.executor)
        touched = {(key.org, key.namespace) for key in keys}
        for org, namespace in sorted(touched):
            mend(self.store, Scope(org, namespace), Tokenizer(self.embedder.identity.name, self.embedder.tokens))
        self.statistics.forget(touched)
        drop(self.store, orphans, self.executor)
        supersede(self.store, [_ending(old) for old in ended], judgement.at)

    def _counts(self, retired: Sequence[Retired]) -> list[CommitDelta]:
        """What the old versions count in the roll-ups."""
        if not retired:
            return []
        rows = [_old_row(old) for old in retired]
        having = stored.with_vector(self.store, rows, self.embedder.identity.name)
        embedded = [
            embed_delta(old.key.org, old.key.namespace, Counter(self.embedder.tokens(old.content)))
            for old in retired
            if old.id in having
        ]
        return [*stored.counted(self.store, rows), *embedded]

    def _roll_up(self, deltas: Sequence[CommitDelta]) -> None:
        if deltas:
            with self.statistics.changing(deltas):
                together(self.executor, [partial(self.store.insert, insert) for insert in roll_ups(deltas)])

    def _insert(self, insert: Insert) -> list[CommitDelta]:
        self.store.insert(insert)
        return []


def _row(version: Version) -> Row:
    key = version.memory.key
    return Row(key.org, key.namespace, version.memory.id)


def _old_row(old: Retired) -> Row:
    return Row(old.key.org, old.key.namespace, old.id)


def _ending(old: Retired) -> Ending:
    return Ending(old.key, old.id, old.successor)
