"""The check behind `loom doctor`: is everything as finished writes leave it, and do the roll-ups agree?

It changes nothing. A healthy store has no orphan, no raised, stale or missing version
(`keep/evidence.py`), and roll-ups equal to a rebuild (`store/rollups.py`). While writes go on, a group
in the middle of its commit would be reported: run it through `MemoryWriter.between_groups`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loom_server.embed.base import Embedder
from loom_server.keep import evidence
from loom_server.model.scope import Scope
from loom_server.store.rollups import Tokenizer, drift
from loom_server.store.statistics import CommitDelta
from loom_server.store.store import Store


@dataclass(frozen=True, slots=True)
class Drift:
    """A plane of a namespace whose roll-ups are not those of its rows, and by how much."""

    org: str
    namespace: str
    plane: str
    docs: int
    length: int
    tokens: int

    @property
    def sentence(self) -> str:
        """For people."""
        return (
            f"In {self.org}/{self.namespace} the counts of plane {self.plane} are off by {self.docs} rows,"
            f" {self.length} tokens of length and {self.tokens} distinct tokens."
        )


@dataclass(frozen=True, slots=True)
class Report:
    """What was found, in versions; all zero and no drift where the store is sound."""

    namespaces: int
    orphans: int
    raised: int
    stale: int
    missing: int
    drifts: tuple[Drift, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing was found."""
        return not (self.orphans or self.raised or self.stale or self.missing or self.drifts)

    @property
    def sentences(self) -> tuple[str, ...]:
        """One a finding, each with its mend."""
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        if self.orphans:
            yield f"{self.orphans} index rows belong to writes that never committed; a sweep drops them."
        if self.raised:
            yield f"{self.raised} index rows are live while their version is not; a sweep lowers them."
        if self.stale:
            yield f"{self.stale} live versions are not the newest of their key; a sweep supersedes them."
        if self.missing:
            yield f"{self.missing} live versions are not in the lexical index; a new value for their key mends that."
        yield from (drift.sentence for drift in self.drifts)


def check(store: Store, embedder: Embedder) -> Report:
    """Look at all tenants. Raises a `StoreError` where the store fails."""
    tokenizer = Tokenizer(embedder.identity.name, embedder.tokens)
    names = evidence.namespaces(store)
    orphans = {row for rows in evidence.orphans(store) for row in rows}
    raised = {row for rows in evidence.raised(store) for row in rows} - orphans
    return Report(
        namespaces=len(names),
        orphans=len(orphans),
        raised=len(raised),
        stale=sum(map(len, evidence.stale(store))),
        missing=sum(map(len, evidence.missing(store))),
        drifts=tuple(_drift(lacking) for org, name in names for lacking in drift(store, Scope(org, name), tokenizer)),
    )


def _drift(lacking: CommitDelta) -> Drift:
    return Drift(
        lacking.org,
        lacking.namespace,
        lacking.plane,
        -lacking.docs,
        -lacking.length,
        len(lacking.df.keys() | lacking.cf),
    )
