"""Plain rankings to hold the service to: bm25s and numpy on the same tokens and vectors.

Every oracle sees one namespace's rows only, and ranks all of them. Nothing of the service
but its analyser and its embedder is used here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log2

import bm25s
import numpy as np
from numpy.typing import NDArray

from loom_server.analysis.analyse import IndexTokens, index_tokens, query_terms
from loom_server.embed.base import Embedder
from loom_server.engine.understand import PRIOR_TOKENS

K1, B, RRF_K, DEPTH = 1.2, 0.75, 60, 100
Scores = NDArray[np.float64]


def ndcg(ranking: Sequence[str], relevant: dict[str, float], depth: int = 10) -> float:
    """nDCG with the judged gain as it stands and a base-2 logarithm, as trec_eval has it."""
    gains = [relevant.get(key, 0.0) / log2(rank + 2) for rank, key in enumerate(ranking[:depth])]
    best = [gain / log2(rank + 2) for rank, gain in enumerate(sorted(relevant.values(), reverse=True)[:depth])]
    return sum(gains) / sum(best) if best else 0.0


def recall(ranking: Sequence[str], relevant: dict[str, float], depth: int = 10) -> float:
    """The share of the relevant rows in the first `depth`."""
    return len(set(ranking[:depth]) & set(relevant)) / len(relevant)


@dataclass(frozen=True, slots=True)
class Question:
    """One question's plain scores over every row of its namespace."""

    lexical: Scores
    bm25: Scores
    cosine: Scores


class Oracle:
    """One namespace, ranked plainly."""

    def __init__(self, keys: Sequence[str], texts: Sequence[str], embedder: Embedder) -> None:
        self.keys = list(keys)
        self._embedder = embedder
        self._tokens = [index_tokens(text, key) for text, key in zip(texts, keys, strict=True)]
        self._vectors = _bfloat16(embedder.passages(texts))
        self._counts: dict[str, int] = {}
        for text in texts:
            for token in embedder.tokens(text):
                self._counts[token] = self._counts.get(token, 0) + 1
        self._total = sum(self._counts.values()) or 1
        self._engine = bm25s.BM25(method="lucene", k1=K1, b=B)
        self._engine.index([_scored(tokens) for tokens in self._tokens], show_progress=False)

    def ask(self, text: str) -> Question:
        """The scores of every row."""
        terms = tuple(term for term in query_terms(text) if term.kind != "stop")
        scored = sorted({term.scored for term in terms if term.scored is not None})
        bm25 = np.asarray(self._engine.get_scores(scored), dtype=np.float64) if scored else np.zeros(len(self.keys))
        # bm25s leaves out the constant factor k1 + 1, so the divisor does too.
        total = sum(self._idf((token,)) for token in scored)
        weights = np.array([self._idf(term.forms) for term in terms])
        covered = np.array([[any(form in row.counts for form in term.forms) for term in terms] for row in self._tokens])
        lexical = covered @ weights / weights.sum() if len(weights) else np.zeros(len(self.keys))

        def share(tokens: Sequence[str]) -> list[float]:
            usual = self._embedder.background(tokens)
            total = self._total + PRIOR_TOKENS
            return [(self._counts.get(t, 0) + PRIOR_TOKENS * u) / total for t, u in zip(tokens, usual, strict=True)]

        cosine = 1 - ((self._vectors - self._embedder.query(text, share)) ** 2).sum(axis=1) / 2
        return Question(lexical, bm25 / total if total else bm25, cosine.astype(np.float64))

    def _idf(self, forms: Sequence[str]) -> float:
        documents = len(self._tokens)
        frequency = min(documents, sum(1 for row in self._tokens for form in forms if form in row.counts))
        return log(1 + (documents - frequency + 0.5) / (frequency + 0.5))

    def order(self, scores: Scores, ties: Scores | None = None, *, positive: bool = False) -> list[str]:
        """Keys by falling score, then by `ties`, then by key; `positive` leaves out rows that score nothing."""
        second = scores if ties is None else ties

        def place(row: int) -> tuple[float, float, str]:
            return (-round(float(scores[row]), 6), -round(float(second[row]), 6), self.keys[row])

        return [self.keys[row] for row in sorted(range(len(self.keys)), key=place) if not positive or scores[row] > 0]


def reciprocal(oracle: Oracle, orders: Sequence[Sequence[str]], ties: Scores) -> list[str]:
    """Reciprocal rank fusion of the first `DEPTH` of each order; equal sums by `ties`, then by key."""
    fused: dict[str, float] = {}
    for order in orders:
        for rank, key in enumerate(order[:DEPTH], start=1):
            fused[key] = fused.get(key, 0.0) + 1 / (RRF_K + rank)
    second = dict(zip(oracle.keys, ties.tolist(), strict=True))
    return sorted(fused, key=lambda key: (-round(fused[key], 12), -second[key], key))


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
