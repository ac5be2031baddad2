"""The rows of a group, table by table, as columns: `memory` itself, vectors, postings, and the roll-ups.

A version that another of its group has already ended is written with its flags down and counts
nowhere, so that a search which includes superseded rows finds it. A tombstone has no projections.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import cast

import numpy as np

from loom_server.ingest.judge import Version
from loom_server.ingest.request import Write
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


def counts_of(versions: Iterable[Version]) -> list[CommitDelta]:
    """What versions add to the roll-ups: the index of the live ones, and the tokens of those that have a vector."""
    writes: defaultdict[tuple[str, str], list[Write]] = defaultdict(list)
    for version in versions:
        if version.write is not None and version.live:
            writes[version.memory.identity.org, version.memory.identity.namespace].append(version.write)
    return [
        delta
        for (org, namespace), written in writes.items()
        for delta in (
            fact_delta(org, namespace, written),
            embed_delta(org, namespace, [write.tokens for write in written if write.vector is not None]),
        )
    ]


def fact_delta(org: str, namespace: str, writes: Sequence[Write]) -> CommitDelta:
    """The index tokens of rows."""
    df = Counter(chain.from_iterable(write.index for write in writes))
    cf = df.copy()
    for write in writes:
        for token, number in write.index.items():
            if number > 1:
                cf[token] += number - 1
    return CommitDelta(org, namespace, FACT, len(writes), sum(write.length for write in writes), df, cf)


def embed_delta(org: str, namespace: str, tokens: Sequence[Sequence[str]]) -> CommitDelta:
    """The embedder's tokens of rows, one sequence a row."""
    df = Counter(chain.from_iterable(map(set, tokens)))
    cf = Counter(chain.from_iterable(tokens))
    return CommitDelta(org, namespace, EMBED, len(tokens), sum(map(len, tokens)), df, cf)


def net(deltas: Iterable[CommitDelta]) -> tuple[CommitDelta, ...]:
    """The sum for each plane of each namespace; what cancels out is left out."""
    by_plane: defaultdict[tuple[str, str, str], list[CommitDelta]] = defaultdict(list)
    for delta in deltas:
        by_plane[delta.org, delta.namespace, delta.plane].append(delta)
    sums = [_sum(key, found) for key, found in by_plane.items()]
    return tuple(delta for delta in sums if delta.docs or delta.length or delta.df or delta.cf)


def _sum(key: tuple[str, str, str], deltas: Sequence[CommitDelta]) -> CommitDelta:
    docs, length = sum(delta.docs for delta in deltas), sum(delta.length for delta in deltas)
    df, cf = _added([delta.df for delta in deltas]), _added([delta.cf for delta in deltas])
    return CommitDelta(*key, docs, length, df, cf)


def _added(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    total = dict(counts[0])
    for more in counts[1:]:
        for token, number in more.items():
            total[token] = total.get(token, 0) + number
    return {token: number for token, number in total.items() if number}
