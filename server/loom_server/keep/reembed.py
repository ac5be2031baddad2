"""Moving vectors to the live model, org by org: `docs/adr/0007-re-embedding.md` gives the order and its reasons.

    mark -> fill each namespace -> flip -> recount each namespace -> drop the other models' vectors -> unmark

Every step may be repeated, and what is left to do is read from the rows themselves. So a run that was killed,
stopped or failed goes on where it was as soon as it is started again.

Limits: a text for which the embedder gives a zero vector stays without one. Where several processes write to a store,
what the others owe at the moment of a count is counted twice, until `loom doctor --mend`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Protocol, TypeVar

import numpy as np

from loom_server.embed.base import Embedder
from loom_server.errors import Cancelled
from loom_server.keep.lacking import Lacking, lacking, namespaces_of
from loom_server.model.deadline import Deadline
from loom_server.model.scope import Scope
from loom_server.store import recount, vectors
from loom_server.store.namespaces import Namespaces
from loom_server.store.rollups import Tokenizer
from loom_server.store.statistics import Statistics, roll_ups
from loom_server.store.store import Store

T = TypeVar("T")

BATCH_ROWS = 1_000
"""Rows that are read, embedded and inserted at once."""
LAST_ROWS = 500
"""Most rows that are embedded while the org's writes wait."""
BATCH_S = 600.0
COUNT_S = 86_400.0
"""Time for the embed plane of one namespace; each of its statements has a bound of its own."""


class Quiet(Protocol):
    """Moments in which nothing is written; both raise what `work` raises, `DeadlineExceeded` and `Cancelled`."""

    def hold(self) -> None:
        """Keep other processes from a run of their own. Raises `Conflict` where one has begun."""
        ...

    def between(self, work: Callable[[], T], deadline: Deadline) -> T:
        """Do `work` while nothing is being written and nothing is owed."""
        ...

    def alone(self, org: str, work: Callable[[], T], deadline: Deadline) -> T:
        """The same, while no write of the org is under way either, not even one that still prepares."""
        ...


class Stop:
    """Asks a run to stop. Each step of the run has time of its own, and all end when stopping is asked for."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._asked = False
        self._current = Deadline(0.0)

    def ask(self) -> None:
        """Stop as soon as may be."""
        with self._lock:
            self._asked = True
            current = self._current
        current.cancel()

    def deadline(self, seconds: float) -> Deadline:
        """The time of the next step. Raises `Cancelled` where stopping was asked for."""
        with self._lock:
            if self._asked:
                raise Cancelled(
                    "The re-embedding was stopped; what is done stays, and the next run goes on from there."
                )
            self._current = Deadline(seconds)
            return self._current


@dataclass(frozen=True, slots=True)
class Told:
    """What a run tells of itself, as it goes."""

    surveyed: Callable[[Lacking], None]
    embedded: Callable[[int], None]
    finished: Callable[[str], None]


@dataclass(slots=True)
class Reembed:
    """One run. `wordless` are the ids for which the embedder gave nothing."""

    store: Store
    embedder: Embedder
    statistics: Statistics
    namespaces: Namespaces
    quiet: Quiet
    stop: Stop
    told: Told
    wordless: set[int] = field(default_factory=set[int])

    def run(self, org: str | None = None) -> None:
        """Move every org that needs it, or the one. Raises what the store and the embedder raise, and `Cancelled`."""
        self.quiet.hold()
        found = lacking(self.store, self._model, org, self.stop.deadline(BATCH_S))
        self.told.surveyed(found)
        for one in found.orgs:
            self._move(one)
            self.told.finished(one)

    @property
    def _model(self) -> str:
        return self.embedder.identity.name

    def _move(self, org: str) -> None:
        self.namespaces.mark_moving(org, True)
        for scope in self._scopes(org):
            self._fill(scope)
        self._flip(org)
        for scope in self._scopes(org):
            self._count(scope)
            vectors.drop_others(self.store, scope, self._model, self.stop.deadline(BATCH_S))
        self.namespaces.mark_moving(org, False)

    def _scopes(self, org: str) -> list[Scope]:
        return [Scope(org, name) for name in namespaces_of(self.store, org, self.stop.deadline(BATCH_S))]

    def _fill(self, scope: Scope) -> None:
        """A vector for every row that has none now."""
        for ids in _parts(self._missing(scope)):
            self._embed(scope, ids)

    def _missing(self, scope: Scope) -> list[int]:
        found = vectors.missing(self.store, scope, self._model, self.stop.deadline(BATCH_S))
        return vectors.without(found, self.wordless)

    def _flip(self, org: str) -> None:
        """Hold the org to the model, at a moment at which every row has its vector."""
        if self.namespaces.model_of(org) == self._model:
            return
        while not self.quiet.alone(org, partial(self._last_rows, org), self.stop.deadline(BATCH_S)):
            for scope in self._scopes(org):
                self._fill(scope)

    def _last_rows(self, org: str) -> bool:
        """What was written meanwhile, where it is little, and then the flip; whether it is done."""
        left = [(scope, self._missing(scope)) for scope in self._scopes(org)]
        if sum(len(ids) for _, ids in left) > LAST_ROWS:
            return False
        for scope, ids in left:
            self._embed(scope, ids)
        self.namespaces.move_model(org, self._model)
        return True

    def _embed(self, scope: Scope, ids: Sequence[int]) -> None:
        if not ids:
            return
        self.quiet.hold()
        deadline = self.stop.deadline(BATCH_S)
        read = vectors.passages(self.store, scope, self._model, ids, deadline)
        made = self.embedder.passages([one.content for one in read], deadline) if read else ()
        pairs = [(one, vector) for one, vector in zip(read, made, strict=True) if vector.any()]
        holders = [one for one, _ in pairs]
        self.wordless.update({one.id for one in read} - {one.id for one in holders})
        if holders:
            vectors.insert(self.store, scope, self._model, holders, np.stack([vector for _, vector in pairs]))
            # Who has ended one of them meanwhile lowered it before this insert, or will after it.
            vectors.lower_ended(self.store, scope, self._model, [one.id for one in holders if one.live])
            self.told.embedded(len(holders))

    def _count(self, scope: Scope) -> None:
        """The embed plane as the live rows have it, and no flag up that should be down."""
        self.quiet.hold()
        tokenizer = Tokenizer(self._model, self.embedder.tokens)
        counted = recount.count(self.store, scope, tokenizer, self.stop.deadline(COUNT_S))

        def settle() -> None:
            vectors.lower_ended(self.store, scope, self._model)
            lacking_counts = recount.settle(self.store, scope, tokenizer, counted)
            with self.statistics.changing([lacking_counts]):
                for insert in roll_ups([lacking_counts]):
                    self.store.insert(insert)

        self.quiet.between(settle, self.stop.deadline(BATCH_S))


def _parts(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[start : start + BATCH_ROWS] for start in range(0, len(ids), BATCH_ROWS))
