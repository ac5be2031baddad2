"""What committed groups still owe: the flags of the versions that they ended, and the roll-ups.

Paid together for all groups of a moment, a retirement costs each of them a share of two updates and
two inserts. Lowering goes first, since a rebuild of roll-ups counts what is live.

Where paying fails, nobody knows which roll-ups are in: these namespaces are in doubt until their
roll-ups have been rebuilt, which the next payment does.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial

from loom_server.ingest.projections import net
from loom_server.model.clock import ids_in
from loom_server.model.scope import Scope
from loom_server.store.named import Row
from loom_server.store.rollups import LAG_S, Tokenizer, mend
from loom_server.store.statistics import CommitDelta, Statistics, roll_ups
from loom_server.store.store import Store
from loom_server.store.together import together
from loom_server.store.versions import lower

SETTLE_S = 0.25
"""How long something is owed before it is paid, give or take a group."""

Namespace = tuple[str, str]


class Debts:
    """Used by the writer's thread alone."""

    def __init__(self, store: Store, statistics: Statistics, tokenizer: Tokenizer, executor: Executor) -> None:
        self._store = store
        self._statistics = statistics
        self._tokenizer = tokenizer
        self._executor = executor
        self._rows: list[Row] = []
        self._doubtful: set[Namespace] = set()
        self._oldest: int | None = None
        self._since = 0.0

    @property
    def due(self) -> float | None:
        """The moment, in monotonic seconds, at which to pay; None where nothing is owed."""
        return None if self._oldest is None else self._since + SETTLE_S

    def add(self, commit: int, deltas: Sequence[CommitDelta], rows: Sequence[Row]) -> None:
        """Owe these changes and the flags of these rows since the commit of row id `commit`."""
        if self._oldest is None:
            self._oldest, self._since = commit, time.monotonic()
        self._statistics.owe(deltas)
        self._rows += rows

    def before(self, commit: int) -> None:
        """Pay where a commit of row id `commit` would find something owed for too long."""
        if self._oldest is not None and commit - self._oldest > ids_in(LAG_S) // 2:
            self.pay()

    def doubt(self, namespaces: Sequence[Namespace], commit: int) -> None:
        """These namespaces' roll-ups need a rebuild, since the commit of row id `commit`."""
        if self._oldest is None:
            self._oldest, self._since = commit, time.monotonic()
        self._doubtful.update(namespaces)

    def pay(self) -> None:
        """Pay everything. Raises a `StoreError`; what was not paid stays owed."""
        lower(self._store, self._rows, self._executor)
        self._rows.clear()
        for org, namespace in sorted(self._doubtful):
            mend(self._store, Scope(org, namespace), self._tokenizer)
            self._statistics.waive([(org, namespace)])
            self._statistics.forget([(org, namespace)])
            self._doubtful.discard((org, namespace))
        self._roll_up()
        self._oldest = None

    def _roll_up(self) -> None:
        owed: tuple[CommitDelta, ...] = ()
        try:
            with self._statistics.paying() as owed:
                together(self._executor, [partial(self._store.insert, insert) for insert in roll_ups(net(owed))])
        except BaseException:
            self._doubtful.update((delta.org, delta.namespace) for delta in owed)
            raise
