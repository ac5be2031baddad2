"""Plain rankings to hold the service to: bm25s and numpy on the same tokens and vectors.

    bm25          bm25s, Lucene's idf, k1 1.2, b 0.75, over the namespace's rows
    vector        exact cosines over vectors cut to BFloat16; `semantic` is the same order
    lexical       idf-weighted share of the question's terms that a row carries
    rrf           reciprocal rank fusion (k 60) of the first 100 by cosine and of the first 100 by words
    hybrid        ½ lexical + ½ cosine          bm25_hybrid    ½ BM25 + ½ cosine

Nothing of the service but its analyser and its embedder is used, and every row of the namespace is ranked. Equal scores
fall back on a second one, then on the key. There is no verdict and no `default`: the service chooses that by question.

Needs the extra `eval`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from types import MappingProxyType
from typing import Any, cast

import bm25s  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
from numpy.typing import NDArray

from loom_server.analysis.analyse import IndexTokens, index_tokens, query_terms
from loom_server.embed.base import Embedder
from loom_server.engine.understand import PRIOR_TOKENS
from loom_server.evaluation.datasets.base import Document
from loom_server.evaluation.measures import DEPTH as SERVED
from loom_server.model.query import Term

K1, B, RRF_K, DEPTH = 1.2, 0.75, 60, 100

_ROUNDED = 6
Scores = NDArray[np.float64]
Rows = NDArray[np.int64]
logging.getLogger("bm25s").setLevel(logging.WARNING)  # it tells every index that it builds

Ranking = tuple[tuple[str, ...], tuple[float, ...]]
"""Keys, best first, with what they are ordered by."""


@dataclass(frozen=True, slots=True)
class Plain:
    """One question's plain scores over every row of its namespace."""

    lexical: Scores
    bm25: Scores
    cosine: Scores


class Oracle:
    """One namespace, ranked plainly."""

    def __init__(self, documents: Sequence[Document], embedder: Embedder) -> None:
        self.keys = [document.key for document in documents]
        by_key = sorted(range(len(self.keys)), key=self.keys.__getitem__)
        self._place = np.argsort(np.asarray(by_key))
        self._embedder = embedder
        texts = [document.text for document in documents]
        tokens = [index_tokens(document.text, document.key) for document in documents]
        self._rows = _rows_of(tokens)
        self._vectors = _bfloat16(embedder.passages(texts))
        self._counts: dict[str, int] = {}
        for token in (token for text in texts for token in embedder.tokens(text)):
            self._counts[token] = self._counts.get(token, 0) + 1
        self._total = sum(self._counts.values()) or 1
        self._engine = cast("Any", bm25s).BM25(method="lucene", k1=K1, b=B)
        self._engine.index([_scored(one) for one in tokens], show_progress=False)

    def ask(self, text: str) -> Plain:
        """The scores of every row."""
        terms = tuple(term for term in query_terms(text) if term.kind != "stop")
        cosine = 1 - ((self._vectors - self._embedder.query(text, self._share)) ** 2).sum(axis=1) / 2
        return Plain(self._lexical(terms), self._bm25(terms), cosine.astype(np.float64))

    def ranks(self, text: str, modes: Sequence[str]) -> dict[str, Ranking]:
        """The first keys and their scores in each of the modes that has a plain counterpart."""
        plain = self.ask(text)
        return {mode: ORDERS[mode](self, plain).first(SERVED) for mode in modes if mode in ORDERS}

    def order(self, scores: Scores, ties: Scores | None = None, *, positive: bool = False) -> Order:
        """Rows by falling score, then by `ties`, then by key; `positive` leaves out rows that score nothing."""
        second = scores if ties is None else ties
        rows = np.lexsort((self._place, -second.round(_ROUNDED), -scores.round(_ROUNDED)))
        return Order(self, rows[scores[rows] > 0] if positive else rows, scores)

    def _lexical(self, terms: Sequence[Term]) -> Scores:
        weights = [self._idf(term.forms) for term in terms]
        scores = np.zeros(len(self.keys))
        for term, weight in zip(terms, weights, strict=True):
            scores[self._any(term.forms)] += weight
        return scores / sum(weights) if weights else scores

    def _bm25(self, terms: Sequence[Term]) -> Scores:
        scored = sorted({term.scored for term in terms if term.scored is not None})
        if not scored:
            return np.zeros(len(self.keys))
        scores = np.asarray(self._engine.get_scores(scored), dtype=np.float64)
        # bm25s leaves out the constant factor k1 + 1, so the divisor does too.
        total = sum(self._idf((token,)) for token in scored)
        return scores / total if total else scores

    def _any(self, forms: Sequence[str]) -> Rows:
        return np.unique(np.concatenate([self._rows.get(form, _NO_ROWS) for form in forms]))

    def _idf(self, forms: Sequence[str]) -> float:
        documents = len(self.keys)
        frequency = min(documents, sum(len(self._rows.get(form, _NO_ROWS)) for form in forms))
        return log(1 + (documents - frequency + 0.5) / (frequency + 0.5))

    def _share(self, tokens: Sequence[str]) -> list[float]:
        usual = self._embedder.background(tokens)
        total = self._total + PRIOR_TOKENS
        return [(self._counts.get(t, 0) + PRIOR_TOKENS * u) / total for t, u in zip(tokens, usual, strict=True)]


@dataclass(frozen=True, slots=True)
class Order:
    """Rows of a namespace, best first, and the scores of all its rows."""

    oracle: Oracle
    rows: Rows
    scores: Scores

    def first(self, depth: int) -> Ranking:
        """The best of them."""
        best = [int(row) for row in self.rows[:depth]]
        keys = tuple(self.oracle.keys[row] for row in best)
        return keys, tuple(round(float(self.scores[row]), _ROUNDED) for row in best)


def _rrf(oracle: Oracle, plain: Plain) -> Order:
    fused = np.zeros(len(oracle.keys))
    for order in (_by_lexical_then_cosine(oracle, plain), _vector(oracle, plain)):
        best = order.rows[:DEPTH]
        fused[best] += 1 / (RRF_K + np.arange(1, len(best) + 1))
    # Sums differ in the fifth digit, so they are held apart more finely than other scores.
    return oracle.order(fused * 1000, plain.lexical, positive=True)


def _by_lexical_then_cosine(oracle: Oracle, plain: Plain) -> Order:
    return oracle.order(plain.lexical, plain.cosine, positive=True)


def _vector(oracle: Oracle, plain: Plain) -> Order:
    return oracle.order(plain.cosine, plain.lexical)


ORDERS: Mapping[str, Callable[[Oracle, Plain], Order]] = MappingProxyType(
    {
        "semantic": _vector,
        "rrf": _rrf,
        "hybrid": lambda oracle, plain: oracle.order(0.5 * plain.lexical + 0.5 * plain.cosine),
        "bm25_hybrid": lambda oracle, plain: oracle.order(0.5 * plain.bm25 + 0.5 * plain.cosine),
        "lexical": lambda oracle, plain: oracle.order(plain.lexical, plain.bm25, positive=True),
        "bm25": lambda oracle, plain: oracle.order(plain.bm25, positive=True),
        "vector": _vector,
    }
)
"""The plain counterpart of each mode that has one."""

_NO_ROWS: Rows = np.zeros(0, dtype=np.int64)


def _rows_of(tokens: Sequence[IndexTokens]) -> dict[str, Rows]:
    """Token -> rows that carry it, in rising order."""
    rows: dict[str, list[int]] = {}
    for row, one in enumerate(tokens):
        for token in one.counts:
            rows.setdefault(token, []).append(row)
    return {token: np.asarray(some, dtype=np.int64) for token, some in rows.items()}


def _scored(tokens: IndexTokens) -> list[str]:
    return [
        token
        for token, count in tokens.counts.items()
        if token[1:2] != ":" or token.startswith("i:")
        for _ in range(count)
    ]


def _bfloat16(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vectors as the table holds them: the upper half of each float."""
    return (vectors.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
