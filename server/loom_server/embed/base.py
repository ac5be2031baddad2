"""The embedder contract.

A passage embeds to the same unit vector for ever; a query may be weighted by the
namespace's own token counts, so stored vectors never change. An embedder tells its
identity, which is stored with every vector: vectors of two identities never mix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from loom_server.model.deadline import Deadline

Vectors = NDArray[np.float32]
TokenShare = Callable[[Sequence[str]], Sequence[float]]
"""Tokens to their share of all tokens in the namespace, each in [0, 1]."""


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What a vector is of. `fake` marks an embedder without meaning (the hash)."""

    provider: str
    model: str
    dimension: int
    revision: str
    query_prefix: str = ""
    passage_prefix: str = ""
    fake: bool = False

    @property
    def name(self) -> str:
        """The stored form; two identities are the same model when it is equal."""
        return f"{self.provider}:{self.model}:{self.dimension}:{self.revision}"


class Embedder(Protocol):
    """Turns text into unit vectors; safe from many threads.

    Raises `EmbedError` when it fails or would return NaN or a wrong dimension, and `DeadlineExceeded`
    or `Cancelled` where a deadline that is given ends before the vectors are there.
    """

    @property
    def identity(self) -> ModelIdentity:
        """What its vectors are of; the same for the whole life of the embedder."""
        ...

    def passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> Vectors:
        """Unit rows, shape (len(texts), dimension). A text without tokens is a zero row."""
        ...

    def query(self, text: str, share: TokenShare | None = None, deadline: Deadline | None = None) -> Vectors:
        """One unit vector, shape (dimension,); all zeros where nothing is known of it."""
        ...

    def tokens(self, text: str) -> tuple[str, ...]:
        """The tokens whose counts `share` is asked for; empty where queries are not weighted."""
        ...

    def background(self, tokens: Sequence[str]) -> Sequence[float]:
        """Each token's share of text at large, in [0, 1]: what is known before a namespace is."""
        ...


@runtime_checkable
class Probed(Protocol):
    """An embedder that can tell whether it works now, which a vector it kept would not."""

    def probe(self, deadline: Deadline | None = None) -> None:
        """Raise `EmbedError` where it does not."""
        ...


class Unweighted:
    """What an embedder has that does not weight the tokens of a question."""

    def tokens(self, text: str) -> tuple[str, ...]:
        """Always empty."""
        return ()

    def background(self, tokens: Sequence[str]) -> Sequence[float]:
        """Nothing: queries are not weighted."""
        return [0.0] * len(tokens)
