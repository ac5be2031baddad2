"""Hashed words: each word adds +1 or -1 at `POSITIONS` places that its hash picks; rows are unit vectors.

Texts that share words are similar, in proportion to the words shared; texts that share
none have a cosine near 0, with a spread of about 1 / sqrt(dimension). The same text gives the same
vector on every machine. It knows no meaning, hence `fake`: nothing is calibrated on it.

Limits: a word is a run of letters, digits and underscores, case-folded; a text counts up
to `max_words` words; a text without a word is a zero row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from loom_server.embed.base import ModelIdentity, TokenShare, Unweighted, Vectors
from loom_server.embed.vectors import unit
from loom_server.model.deadline import Deadline

POSITIONS = 8
"""Places a word is written to; one alone would let two words erase each other."""

REMEMBERED_WORDS = 65_536
"""Words whose places are kept, most recently used."""

_WORD = re.compile(r"\w+")


class HashedEmbedder(Unweighted):
    """The deterministic embedder of tests and the last resort without a model."""

    def __init__(
        self, dimension: int = 256, *, max_words: int = 256, query_prefix: str = "", passage_prefix: str = ""
    ) -> None:
        """`dimension` numbers a vector; the first `max_words` words of a text count."""
        self._max_words = max_words
        revision = _revision(query_prefix, passage_prefix)
        self._identity = ModelIdentity("loom", "hash", dimension, revision, query_prefix, passage_prefix, fake=True)

    @property
    def identity(self) -> ModelIdentity:
        """The revision tells the prefixes apart."""
        return self._identity

    def passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> Vectors:
        """Unit rows, shape (len(texts), dimension); zero for a text without a word."""
        rows = np.zeros((len(texts), self._identity.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            rows[row] = self._vector(self._identity.passage_prefix, text)
        return rows

    def query(self, text: str, share: TokenShare | None = None, deadline: Deadline | None = None) -> Vectors:
        """One unit vector, shape (dimension,). `share` is not asked: there are no tokens to weight."""
        return self._vector(self._identity.query_prefix, text)

    def _vector(self, prefix: str, text: str) -> Vectors:
        words = [match.group() for match in islice(_WORD.finditer(text.casefold()), self._max_words)]
        # The prefix of nothing is nothing, or every empty text would be alike.
        if words:
            words += _WORD.findall(prefix.casefold())
        dimension = self._identity.dimension
        counts = np.zeros(dimension, dtype=np.float32)
        for word in words:
            places, signs = _places(word, dimension)
            np.add.at(counts, places, signs)
        return unit(counts)


def _revision(query_prefix: str, passage_prefix: str) -> str:
    """Vectors made under other prefixes are of another model."""
    if not query_prefix and not passage_prefix:
        return "1"
    return f"1-{_digest(repr((query_prefix, passage_prefix))).hex()[:8]}"


@lru_cache(maxsize=REMEMBERED_WORDS)
def _places(word: str, dimension: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Where a word is written and with which sign; each a function of the word's hash alone."""
    numbers = np.frombuffer(_digest(word), dtype="<u4").astype(np.int64)
    signs = np.where(numbers % 2 == 0, 1.0, -1.0).astype(np.float32)
    return numbers // 2 % dimension, signs


def _digest(word: str) -> bytes:
    return blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4 * POSITIONS).digest()
