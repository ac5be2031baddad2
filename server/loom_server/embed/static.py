"""Static token vectors: a passage is the unit mean of its tokens' vectors, a query the unit weighted mean.

    passage(t) = unit( sum of v(token) over the tokens of t )
    query(t)   = unit( sum of w(token) * v(token) ),   w = a / (a + share(token)),   a = 1e-3

`share` is the token's share of all tokens in the namespace, so words that are everywhere
in it count little and a word it has never seen counts fully. The passage side is plain:
stored vectors must not change when the counts do.

    background(id) = (1 / (max(1, id - 258) + 2.7)) / Z

The vocabulary was merged in the order of frequency, so a token's id tells its rank, and a
Zipf-Mandelbrot law over the ranks its share of text at large (the first 259 ids are
markers and bytes). That is all that is known of a token in a namespace of a few rows.

The vectors (32,000 tokens x 256) and the tokenizer are data files of the installed package
wordllama, whose code is not imported: it looks for its tokenizer in another folder than
the one it ships and then asks the network.

Limits: a text counts up to `max_tokens` tokens. Order of words and negation are lost. The
truncation length is no part of the identity, since a longer cut is still the same space.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from threading import local

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load
from tokenizers import Tokenizer

from loom_server.embed.base import ModelIdentity, TokenShare, Vectors
from loom_server.embed.packaged import data_file
from loom_server.embed.vectors import unit
from loom_server.errors import ConfigError, EmbedError
from loom_server.model.deadline import Deadline

PACKAGE = "wordllama"
MODEL = "l2_supercat"
WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
TENSOR = "embedding.weight"
DIMENSION = 256

SMOOTHING = 1e-3
"""The `a` of the weighting, a share: a token of this share of the namespace counts half."""

FIRST_MERGED = 258
"""Ids up to here are markers and single bytes; ranks count from the next."""

RANK_OFFSET = 2.7
"""Mandelbrot's offset of the rank, for English text."""

BATCH = 256
"""Texts tokenised at once; bounds the memory of a large call."""

CUT_SLACK = 1_024
"""Characters searched for a space at which a long text may be cut."""

TokenIds = NDArray[np.int64]


class StaticEmbedder:
    """Token vectors from a package's data files. Safe from many threads: nothing changes that two of them share."""

    def __init__(self, max_tokens: int, *, package: str = PACKAGE) -> None:
        """Load the vectors, about 0.3 s and 32 MB.

        `max_tokens` is the number of tokens of a text that count. Raises `ConfigError`
        naming `package` when it is not installed or its data files are not usable.
        """
        weights = data_file(package, f"{package}/{WEIGHTS}", "static", package)
        tokenizer = data_file(package, f"{package}/{TOKENIZER}", "static", package)
        self._table = _table(weights, package)
        self._tokenizer = _tokenizer(tokenizer, package)
        self._names = _names(self._tokenizer, len(self._table), package)
        self._ids = {name: row for row, name in enumerate(self._names)}
        self._background = _background(len(self._table))
        self._max_tokens = max_tokens
        self._lately = local()
        # No token is longer, so this many characters hold at least `max_tokens` tokens.
        self._enough = max_tokens * max(map(len, self._names))
        digest = hashlib.sha256(weights + tokenizer).hexdigest()
        self._identity = ModelIdentity(package, MODEL, DIMENSION, f"mean-{digest[:12]}")

    @property
    def identity(self) -> ModelIdentity:
        """The revision is the way of pooling and a digest of the data files."""
        return self._identity

    def passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> Vectors:
        """Unit rows, shape (len(texts), dimension); zero for a text that is empty or blank."""
        rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for start in range(0, len(texts), BATCH):
            part = texts[start : start + BATCH]
            encoded = self._encode(part)
            # Who writes asks for the tokens next, in the same thread: cutting twice is a quarter of a write.
            self._lately.encoded = dict(zip(part, encoded, strict=True))
            for row, ids in enumerate(encoded, start):
                # One row after another: faster than `reduceat`, and the sum of a text is
                # the same to the bit in every batch.
                rows[row] = unit(self._table.take(ids, axis=0).sum(axis=0))
        return rows

    def query(self, text: str, share: TokenShare | None = None, deadline: Deadline | None = None) -> Vectors:
        """One unit vector, shape (dimension,). Without `share` it is the passage vector.

        Raises `EmbedError` when `share` answers with another number of shares, or with NaN.
        """
        (ids,) = self._encode([text])
        vectors = self._table.take(ids, axis=0)
        if share is not None and len(ids):
            vectors = vectors * self._weights(share(self._names_of(ids)), len(ids))[:, np.newaxis]
        return unit(vectors.sum(axis=0))

    def tokens(self, text: str) -> tuple[str, ...]:
        """The vocabulary's spelling of each token that counts, in order and with repetition."""
        lately: dict[str, TokenIds] = getattr(self._lately, "encoded", {})
        return self._names_of(lately[text] if text in lately else self._encode([text])[0])

    def background(self, tokens: Sequence[str]) -> Sequence[float]:
        """Each token's share of text at large; a token that is not of the vocabulary has none."""
        return [self._background[self._ids[token]] if token in self._ids else 0.0 for token in tokens]

    def _encode(self, texts: Sequence[str]) -> list[TokenIds]:
        prepared = [self._prepare(text) for text in texts]
        encodings = self._tokenizer.encode_batch_fast(prepared, add_special_tokens=False)
        return [np.array(encoding.ids[: self._max_tokens], dtype=np.int64) for encoding in encodings]

    def _prepare(self, text: str) -> str:
        """The text without outer blanks and without a tail that cannot count."""
        text = text.strip()
        if len(text) > self._enough + CUT_SLACK:
            # A token never spans a space and what stands before it, so a cut there changes no token.
            space = text.rfind(" ", self._enough, self._enough + CUT_SLACK)
            text = text[: space if space >= 0 else self._enough + CUT_SLACK]
        # A lone surrogate has no UTF-8 form, which the tokenizer asks for.
        return text.encode("utf-8", "replace").decode("utf-8")

    def _names_of(self, ids: TokenIds) -> tuple[str, ...]:
        rows: list[int] = ids.tolist()
        return tuple([self._names[row] for row in rows])

    def _weights(self, shares: Sequence[float], tokens: int) -> Vectors:
        given = np.asarray(shares, dtype=np.float64)
        if given.shape != (tokens,) or np.isnan(given).any():
            raise EmbedError(f"Embedder {self._identity.name} was given no share for some of {tokens} tokens.")
        # Counts and their total may be read a moment apart and give a share outside [0, 1].
        return (SMOOTHING / (SMOOTHING + np.clip(given, 0.0, 1.0))).astype(np.float32)


def _background(rows: int) -> list[float]:
    """The share of each id, by its rank; they add up to 1."""
    weights = 1.0 / (np.maximum(1, np.arange(rows) - FIRST_MERGED) + RANK_OFFSET)
    shares: list[float] = (weights / weights.sum()).tolist()
    return shares


def _table(weights: bytes, package: str) -> Vectors:
    try:
        table = load(weights)[TENSOR].astype(np.float32)
    except (SafetensorError, KeyError) as error:
        raise ConfigError(f"{WEIGHTS} of package {package} holds no {TENSOR}; reinstall {package}.") from error
    if table.shape[1:] != (DIMENSION,) or not np.isfinite(table).all():
        raise ConfigError(f"{WEIGHTS} of package {package} lacks {DIMENSION} finite numbers a token; reinstall it.")
    return table


def _tokenizer(definition: bytes, package: str) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_buffer(definition)
    except ValueError as error:
        raise ConfigError(f"{TOKENIZER} of package {package} is no tokenizer; reinstall {package}.") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    # A text that spells "<s>" means these characters and not the marker of a beginning.
    tokenizer.encode_special_tokens = True
    return tokenizer


def _names(tokenizer: Tokenizer, rows: int, package: str) -> tuple[str, ...]:
    """Every token's spelling by its id, which is its row in the table."""
    vocabulary = tokenizer.get_vocab(with_added_tokens=True)
    if sorted(vocabulary.values()) != list(range(rows)):
        raise ConfigError(f"Package {package}: its tokenizer and its {rows} vectors do not belong together.")
    return tuple(sorted(vocabulary, key=vocabulary.__getitem__))
