"""What a namespace's index holds, kept in the process: documents, lengths, frequencies.

    plane 'fact'    documents, their scored tokens, and in how many documents each token is
    plane 'embed'   how often each of the embedder's tokens was written, and all of them together

The first touch of a namespace reads its roll-ups with one statement. A plane's vocabulary that fits is kept whole, and
a token it lacks counts zero without asking; a larger one is asked by token, and what is asked is kept. A change that is
committed but not yet in the roll-ups is owed (`owe`): it counts in the very next search, and is added to whatever is
read, until `paying` inserts what is owed. `changing` does both at once.

A read that fell between the insert of the roll-ups and the change of what is kept would count one
write twice. All three therefore hold the locks of their namespaces, and a read is kept only where it
was made under that lock. A read that cannot have the lock in time is used once and forgotten, and it is
made again where what was owed was paid meanwhile: nobody knows which part of that it has seen.

With other processes writing to the same server, what is kept is at most `max_age_s` old.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from threading import Lock
from typing import cast

from loom_server.model.deadline import Deadline
from loom_server.model.scope import Scope
from loom_server.observe.metrics import Count, count_nothing
from loom_server.store.statement import Template
from loom_server.store.store import Columns, Insert, Statement, Store

FACT = "fact"
EMBED = "embed"
WHOLE_VOCABULARY = 50_000
"""Most tokens of one plane's vocabulary that is kept whole."""
SHARED_VOCABULARY = 2_000
"""The same for a store that others write to: it is read again each second."""
KEPT_TOKENS = 4_000_000
"""Most tokens of all namespaces together, about 400 MB; the longest unused namespace goes first."""
TOKENS_OF_AN_EMPTY_NAMESPACE = 50
LONGEST_LOCK_WAIT_S = 0.25
_LOCKS = 64

_OF_A_PLANE = """
    UNION ALL
    SELECT plane, token, sum(df) AS first, sum(cf) AS second
    FROM loom.token_df WHERE /*scope*/ AND plane = '{}' AND token != '' GROUP BY plane, token LIMIT {{most:UInt64}}"""
_LOAD = Template(
    "statistics.load",
    """
    SELECT plane, '' AS token, sum(docs) AS first, sum(length) AS second
    FROM loom.corpus_stats WHERE /*scope*/ GROUP BY plane"""
    + "".join(map(_OF_A_PLANE.format, (FACT, EMBED))),
    identity=False,
)
_TOKENS = Template(
    "statistics.tokens",
    """
    SELECT token, sum(df) AS first, sum(cf) AS second
    FROM loom.token_df WHERE /*scope*/ AND plane = {plane:String} AND token IN {tokens:Array(String)}
    GROUP BY token
    """,
    identity=False,
)


@dataclass(frozen=True, slots=True)
class CommitDelta:
    """What one commit adds to one plane of one namespace; a retired row adds negative numbers.

    `df` and `cf` give, by token, the documents that hold it and the times it is written.
    """

    org: str
    namespace: str
    plane: str
    docs: int
    length: int
    df: Mapping[str, int]
    cf: Mapping[str, int]

    def negated(self) -> CommitDelta:
        """The change that undoes this one."""
        return replace(
            self,
            docs=-self.docs,
            length=-self.length,
            df={token: -number for token, number in self.df.items()},
            cf={token: -number for token, number in self.cf.items()},
        )


def roll_ups(deltas: Sequence[CommitDelta]) -> tuple[Insert, Insert]:
    """The same changes as rows of `token_df` and `corpus_stats`."""
    tokens = [
        (delta.org, delta.namespace, delta.plane, token, delta.df.get(token, 0), delta.cf.get(token, 0))
        for delta in deltas
        for token in delta.df.keys() | delta.cf.keys()
    ]
    corpus = [(delta.org, delta.namespace, delta.plane, delta.docs, delta.length) for delta in deltas]
    return (
        Insert("token_df", ("org", "namespace", "plane", "token", "df", "cf"), tuple(zip(*tokens, strict=True))),
        Insert("corpus_stats", ("org", "namespace", "plane", "docs", "length"), tuple(zip(*corpus, strict=True))),
    )


@dataclass(slots=True)
class _Plane:
    """One plane of a namespace. `whole` says that a token which is not there counts zero."""

    docs: int = 0
    length: int = 0
    counts: dict[str, int] = field(default_factory=dict[str, int])
    whole: bool = False


@dataclass(slots=True)
class _Kept:
    """One namespace."""

    scope: Scope
    fact: _Plane = field(default_factory=_Plane)
    embed: _Plane = field(default_factory=_Plane)
    version: int = 0
    loaded_at: float | None = None
    size: int = 0

    def plane(self, name: str) -> _Plane:
        return self.fact if name == FACT else self.embed

    def weight(self) -> int:
        return TOKENS_OF_AN_EMPTY_NAMESPACE + len(self.fact.counts) + len(self.embed.counts)

    def fill(self, columns: Columns, most: int) -> None:
        """Take what `_LOAD` answered; a vocabulary beyond `most` is dropped, to be asked by token."""
        fact, embed = _Plane(), _Plane()
        for plane, token, first, second in zip(*columns.data, strict=True):
            target, counted = (fact, first) if plane == FACT else (embed, second)
            if token:
                target.counts[str(token)] = cast(int, counted)
            else:
                target.docs, target.length = cast(int, first), cast(int, second)
        for plane in (fact, embed):
            plane.whole = len(plane.counts) <= most
            if not plane.whole:
                plane.counts = {}
        self.fact, self.embed = fact, embed

    def add(self, delta: CommitDelta) -> None:
        plane = self.plane(delta.plane)
        plane.docs += delta.docs
        plane.length += delta.length
        for token, number in (delta.df if delta.plane == FACT else delta.cf).items():
            if plane.whole or token in plane.counts:
                plane.counts[token] = plane.counts.get(token, 0) + number


@dataclass(frozen=True, slots=True)
class NamespaceStatistics:
    """One namespace as a search sees it. Its methods may read, within the search's deadline."""

    _kept: _Kept
    _fetch: Callable[[_Kept, str, Sequence[str], Deadline | None], Mapping[str, int]]
    _deadline: Deadline | None

    @property
    def version(self) -> int:
        """Rises with every change of what is kept."""
        return self._kept.version

    @property
    def documents(self) -> int:
        """Live indexed rows."""
        return self._kept.fact.docs

    @property
    def average_length(self) -> float:
        """Scored tokens a row; 0 where there are no rows."""
        return self._kept.fact.length / self._kept.fact.docs if self._kept.fact.docs else 0.0

    @property
    def total_tokens(self) -> int:
        """The embedder's tokens of all live rows."""
        return self._kept.embed.length

    def document_frequencies(self, tokens: Sequence[str]) -> Mapping[str, int]:
        """In how many live rows each index token is; every token given is answered."""
        return self._fetch(self._kept, FACT, tokens, self._deadline)

    def token_counts(self, tokens: Sequence[str]) -> Mapping[str, int]:
        """How often each of the embedder's tokens is in live rows; every token given is answered."""
        return self._fetch(self._kept, EMBED, tokens, self._deadline)


class Statistics:
    """The statistics of all namespaces that were touched lately."""

    def __init__(
        self,
        store: Store,
        *,
        max_age_s: float | None = None,
        whole_vocabulary: int = WHOLE_VOCABULARY,
        kept_tokens: int = KEPT_TOKENS,
        monotonic: Callable[[], float] = time.monotonic,
        counted: Count = count_nothing,
    ) -> None:
        self._store = store
        self._max_age_s = max_age_s
        self._whole_vocabulary = whole_vocabulary
        self._kept_tokens = kept_tokens
        self._monotonic = monotonic
        self._counted = counted
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        self._owed: dict[tuple[str, str], tuple[CommitDelta, ...]] = {}
        self._being_paid: set[tuple[str, str]] = set()
        self._payments = 0
        self._weight = 0
        self._guard = Lock()
        self._locks = tuple(Lock() for _ in range(_LOCKS))
        self._versions = count(1)

    def namespace(self, org: str, namespace: str, deadline: Deadline | None = None) -> NamespaceStatistics:
        """The namespace's statistics. Raises what `Store.query` raises."""
        with self._guard:
            kept = self._kept.get((org, namespace))
            if kept is not None:
                self._kept.move_to_end((org, namespace))
        if kept is None or not self._fresh(kept):
            self._counted(0, 1)
            kept = self._load(Scope(org, namespace), deadline)
        else:
            self._counted(1, 0)
        return NamespaceStatistics(kept, self._counts, deadline)

    @contextmanager
    def changing(self, deltas: Sequence[CommitDelta]) -> Generator[None]:
        """Insert the roll-ups of `deltas` inside; then what is kept changes in the same way.

        Where the block raises, nobody knows what was inserted, and the namespaces are forgotten.
        A read of one of them from inside the block waits in vain and is not kept.
        """
        with self._held({(delta.org, delta.namespace) for delta in deltas}):
            yield
            for delta in deltas:
                self._add(delta)

    def owe(self, deltas: Sequence[CommitDelta]) -> None:
        """Count changes whose roll-ups will be inserted later."""
        with self._held({(delta.org, delta.namespace) for delta in deltas}):
            for delta in deltas:
                key = (delta.org, delta.namespace)
                self._owed[key] = (*self._owed.get(key, ()), delta)
                self._add(delta)

    @contextmanager
    def paying(self) -> Generator[tuple[CommitDelta, ...]]:
        """Insert the roll-ups of the given changes inside; then nothing is owed.

        Where the block raises, nobody knows what was inserted: the namespaces are forgotten, their
        changes are no longer owed, and their roll-ups need a rebuild. The block must read none of them,
        since a read waits for its end.
        """
        keys = set(self._owed)
        with self._held(keys):
            self._being_paid = keys
            try:
                yield tuple(delta for key in keys for delta in self._owed[key])
            finally:
                self.waive(keys)
                self._being_paid = set()

    def waive(self, keys: Iterable[tuple[str, str]]) -> None:
        """Nothing is owed for these namespaces any more."""
        for key in keys:
            self._owed.pop(key, None)
        self._payments += 1

    def forget(self, keys: Iterable[tuple[str, str]] | None = None) -> None:
        """Drop namespaces, given as (org, namespace), or all; the next search reads them again."""
        with self._guard:
            for key in list(self._kept) if keys is None else keys:
                if (dropped := self._kept.pop(key, None)) is not None:
                    self._weight -= dropped.size

    @contextmanager
    def _held(self, keys: Collection[tuple[str, str]]) -> Generator[None]:
        """Hold the locks of the namespaces; where the block raises, forget them."""
        with ExitStack() as stack:
            for index in sorted({hash(key) % _LOCKS for key in keys}):
                stack.enter_context(self._locks[index])
            try:
                yield
            except BaseException:
                self.forget(keys)
                raise

    def _fresh(self, kept: _Kept) -> bool:
        if kept.loaded_at is None or self._max_age_s is None:
            return kept.loaded_at is not None
        return self._monotonic() - kept.loaded_at < self._max_age_s

    def _load(self, scope: Scope, deadline: Deadline | None) -> _Kept:
        key = (scope.org, scope.namespace)
        with self._locked(scope, deadline) as locked:
            with self._guard:
                present = self._kept.get(key)
            if locked and present is not None and self._fresh(present):
                return present
            kept = _Kept(scope, loaded_at=self._monotonic())
            most = self._whole_vocabulary
            # 'break' ends the count of a large vocabulary as soon as it is known to be one.
            settings = {"max_rows_to_group_by": most + 1, "group_by_overflow_mode": "break"}
            found, owed = self._read(_LOAD.bind(scope, {"most": most + 1}, settings=settings), scope, locked, deadline)
            kept.fill(found, most)
            for delta in owed:
                kept.add(delta)
            kept.version = next(self._versions)
            if locked:
                self._keep(key, kept)
            return kept

    def _counts(self, kept: _Kept, plane: str, tokens: Sequence[str], deadline: Deadline | None) -> Mapping[str, int]:
        known = kept.plane(plane).counts
        missing = [] if kept.plane(plane).whole else sorted({token for token in tokens if token not in known})
        if not missing:
            return {token: known.get(token, 0) for token in tokens}
        with self._locked(kept.scope, deadline) as locked:
            statement = _TOKENS.bind(kept.scope, {"plane": plane, "tokens": missing})
            found = dict.fromkeys(missing, 0)
            stored, owed = self._read(statement, kept.scope, locked, deadline)
            for token, first, second in stored.rows():
                found[str(token)] = cast(int, first if plane == FACT else second)
            for delta in owed:
                if delta.plane == plane:
                    counts = delta.df if plane == FACT else delta.cf
                    found.update({token: number + counts.get(token, 0) for token, number in found.items()})
            if locked:
                known.update(found)
                self._weigh(kept)
        return {token: found[token] if token in found else known.get(token, 0) for token in tokens}

    def _read(
        self, statement: Statement, scope: Scope, locked: bool, deadline: Deadline | None
    ) -> tuple[Columns, tuple[CommitDelta, ...]]:
        """What is stored and what is owed beside it; no change is in both, and none in neither."""
        key = (scope.org, scope.namespace)
        while True:
            payments = self._payments
            if locked or key not in self._being_paid:
                found = self._store.query(statement, deadline)
                owed = self._owed.get(key, ())
                if locked or (key not in self._being_paid and payments == self._payments):
                    return found, owed
            if deadline:
                deadline.check()
            with self._locked(scope, deadline):
                pass  # whoever pays holds it until the end

    @contextmanager
    def _locked(self, scope: Scope, deadline: Deadline | None) -> Generator[bool]:
        """Whether the namespace's lock could be had in time; it is held in the block."""
        lock = self._locks[hash((scope.org, scope.namespace)) % _LOCKS]
        locked = lock.acquire(timeout=min(LONGEST_LOCK_WAIT_S, deadline.left() if deadline else LONGEST_LOCK_WAIT_S))
        try:
            yield locked
        finally:
            if locked:
                lock.release()

    def _add(self, delta: CommitDelta) -> None:
        with self._guard:
            kept = self._kept.get((delta.org, delta.namespace))
        if kept is not None:
            kept.add(delta)
            kept.version = next(self._versions)
            self._weigh(kept)

    def _keep(self, key: tuple[str, str], kept: _Kept) -> None:
        with self._guard:
            if (before := self._kept.pop(key, None)) is not None:
                self._weight -= before.size
            self._kept[key] = kept
        self._weigh(kept)

    def _weigh(self, kept: _Kept) -> None:
        """Count what `kept` holds now, and let the longest unused namespaces go."""
        with self._guard:
            if self._kept.get((kept.scope.org, kept.scope.namespace)) is not kept:
                return
            weight = kept.weight()
            self._weight += weight - kept.size
            kept.size = weight
            while self._weight > self._kept_tokens and len(self._kept) > 1:
                _, gone = self._kept.popitem(last=False)
                self._weight -= gone.size
