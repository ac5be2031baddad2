"""What the writer is asked for: a draft with all that its projections need, or a key to remove.

    index     tokens of content and key to how often they stand there; `length` counts the scored ones
    vector    the content's unit vector; None where there is none to store
    tokens    the embedder's tokens of the content, for the rows that have a vector

Preparing is done by the caller's thread, so that the one writer only waits for the engine. An
embedder that fails, or whose model is not the one the org is held to, costs the vector and not the
write: the row is stored, found by its words, and the answer says so in `degraded`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from loom_server.analysis.analyse import index_tokens
from loom_server.embed.base import Embedder
from loom_server.errors import EmbedError, ModelMismatch
from loom_server.ingest.content import sha256_of
from loom_server.model.deadline import Deadline
from loom_server.model.memory import Draft, Key

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Write:
    """A draft, analysed and embedded."""

    draft: Draft
    key: Key
    sha256: str
    index: Mapping[str, int]
    length: int
    vector: Vector | None = None
    tokens: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()

    @property
    def weight(self) -> int:
        """Postings it will have."""
        return len(self.index) + 1


@dataclass(frozen=True, slots=True)
class Removal:
    """A key whose live version is to go."""

    key: Key
    weight: int = 1


Request = Write | Removal


def key_of(draft: Draft) -> Key:
    """The key that a draft writes to."""
    i = draft.identity
    return Key(i.org, i.namespace, i.agent, i.user_id, i.session_id, draft.memory_key)


def prepare(
    drafts: Sequence[Draft],
    embedder: Embedder,
    model_of: Callable[[str], str | None],
    language: str,
    deadline: Deadline | None = None,
) -> list[Write]:
    """Analyse and embed. `model_of` tells which model an org is held to, None where to none yet."""
    allowed = (None, embedder.identity.name)
    fits = {org: model_of(org) in allowed for org in {draft.identity.org for draft in drafts}}
    vectors, degraded = _embed([draft.content for draft in drafts if fits[draft.identity.org]], embedder, deadline)
    return [
        _write(draft, language, next(vectors), degraded, embedder)
        if fits[draft.identity.org]
        else _write(draft, language, None, (f"embed: {ModelMismatch.code}",), embedder)
        for draft in drafts
    ]


def without_vector(write: Write, reason: str) -> Write:
    """The write as an org gets it whose vectors are of another model."""
    return replace(write, vector=None, tokens=(), degraded=(f"embed: {reason}",))


def _embed(
    texts: Sequence[str], embedder: Embedder, deadline: Deadline | None
) -> tuple[Iterator[Vector | None], tuple[str, ...]]:
    """A vector for each text, and what to call it where there is none; a zero vector is near to everything."""
    try:
        vectors = embedder.passages(texts, deadline) if texts else ()
    except EmbedError as error:
        return repeat(None), (f"embed: {error.code}",)
    return (vector if vector.any() else None for vector in vectors), ()


def _write(draft: Draft, language: str, vector: Vector | None, degraded: tuple[str, ...], embedder: Embedder) -> Write:
    index = index_tokens(draft.content, draft.memory_key, language)
    tokens = () if vector is None else embedder.tokens(draft.content)
    return Write(draft, key_of(draft), sha256_of(draft.value), index.counts, index.length, vector, tokens, degraded)
