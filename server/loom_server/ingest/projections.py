"""The rows of a group, table by table, as columns: `memory` itself, vectors, postings, and the roll-ups.

A version that another of its group has already ended is written with its flags down and counts
nowhere, so that a search which includes superseded rows finds it. A tombstone has no projections.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from loom_server.ingest.judge import Version
from loom_server.store.statistics import EMBED, FACT, CommitDelta
from loom_server.store.store import Insert

EVERY_ROW = ""
"""The token that every indexed row has."""

_IDENTITY = ("org", "namespace", "agent", "user_id", "session_id", "run_id")
_FIELDS = (
    "memory_key", "version", "id", "status", "value", "content", "content_sha256", "memory_type", "canonical",
    "summary", "metadata", "tags", "category", "entities", "confidence", "source_class", "source_trace",
    "source_resource_id", "sensitivity", "created_at", "valid_at", "valid_to", "expires_at", "superseded_by",
    "superseded_at",
)  # fmt: skip


def memory_rows(versions: Sequence[Version]) -> Insert:
    """The rows whose insert is the commit."""
    memories = [version.memory for version in versions]
    identity = [[getattr(memory.identity, name) for memory in memories] for name in _IDENTITY]
    fields = [[getattr(memory, name) for memory in memories] for name in _FIELDS]
    return Insert("memory", (*_IDENTITY, *_FIELDS), (*identity, *fields))


def vector_rows(versions: Sequence[Version], model: str) -> Insert:
    """The vectors, of `model`, of the versions that have one."""
    written = [(version, version.write.vector) for version in versions if version.write is not None]
    with_vector = [(version, vector) for version, vector in written if vector is not None]
    holders = [version for version, _ in with_vector]
    columns = ("model", "id", *_IDENTITY, "memory_key", "live", "vector")
    data = (
        [model] * len(holders),
        [version.memory.id for version in holders],
        *([getattr(version.memory.identity, name) for version in holders] for name in _IDENTITY),
        [version.memory.memory_key for version in holders],
        [int(version.live) for version in holders],
        cast("Sequence[object]", np.stack([vector for _, vector in with_vector])) if with_vector else (),
    )
    return Insert("memory_embeddings", columns, data)


def posting_rows(versions: Sequence[Version]) -> Insert:
    """One row a distinct token of each version, and one under the token that every row has."""
    columns = ("plane", "token", "id", *_IDENTITY, "memory_key", "tf", "dl", "live")
    tokens: list[str] = []
    repeats: list[int] = []
    sizes: list[int] = []
    holders = [(version, version.write) for version in versions if version.write is not None]
    for _, write in holders:
        tokens += (EVERY_ROW, *write.index)
        repeats += (1, *write.index.values())
        sizes.append(len(write.index) + 1)

    def spread(values: Iterable[object]) -> list[object]:
        return [value for value, size in zip(values, sizes, strict=True) for _ in range(size)]

    memories = [version.memory for version, _ in holders]
    data = (
        [FACT] * len(tokens),
        tokens,
        spread(memory.id for memory in memories),
        *(spread(getattr(memory.identity, name) for memory in memories) for name in _IDENTITY),
        spread(memory.memory_key for memory in memories),
        repeats,
        spread(write.length for _, write in holders),
        spread(int(version.live) for version, _ in holders),
    )
    return Insert("postings", columns, data)


@dataclass(slots=True)
class _Sums:
    docs: int = 0
    length: int = 0
    df: Counter[str] = field(default_factory=Counter[str])
    cf: Counter[str] = field(default_factory=Counter[str])


class Tally:
    """The change of the roll-ups that a group makes: what comes counts up, what goes counts down."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str, str], _Sums] = {}

    def add(self, delta: CommitDelta) -> None:
        """Add one change, of either sign."""
        sums = self._sums.setdefault((delta.org, delta.namespace, delta.plane), _Sums())
        sums.docs += delta.docs
        sums.length += delta.length
        for into, numbers in ((sums.df, delta.df), (sums.cf, delta.cf)):
            for token, number in numbers.items():
                into[token] += number

    def add_version(self, version: Version) -> None:
        """Count a version that is written: its index, and its tokens where it has a vector."""
        if version.write is None or not version.live:
            return
        identity, write = version.memory.identity, version.write
        once = dict.fromkeys(write.index, 1)
        self.add(CommitDelta(identity.org, identity.namespace, FACT, 1, write.length, once, write.index))
        if write.vector is not None:
            self.add(embed_delta(identity.org, identity.namespace, write.tokens))

    def deltas(self) -> tuple[CommitDelta, ...]:
        """The net changes; what cancels out is left out."""
        found = [
            CommitDelta(*key, sums.docs, sums.length, _nonzero(sums.df), _nonzero(sums.cf))
            for key, sums in self._sums.items()
        ]
        return tuple(delta for delta in found if delta.docs or delta.length or delta.df or delta.cf)


def embed_delta(org: str, namespace: str, tokens: Mapping[str, int]) -> CommitDelta:
    """One row's count in the embedder's plane."""
    return CommitDelta(org, namespace, EMBED, 1, sum(tokens.values()), dict.fromkeys(tokens, 1), dict(tokens))


def _nonzero(counts: Counter[str]) -> dict[str, int]:
    return {token: number for token, number in counts.items() if number}
