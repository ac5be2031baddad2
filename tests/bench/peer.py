"""The peer: the same search as numpy and bm25s do it in this process, over the same rows.

    0.5 · bm25 / its maximum + 0.5 · cosine, over every row; the best ten

It holds everything in memory and knows no tenants, no writes and no rows: it answers with positions.
"""

from __future__ import annotations

from collections.abc import Sequence

import bm25s
import numpy as np

from loom_server.embed.base import Embedder

DEPTH = 100


class Peer:
    """An index in memory."""

    def __init__(self, texts: Sequence[str], embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors = embedder.passages(texts)
        self._engine = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        self._engine.index([text.split() for text in texts], show_progress=False)

    def search(self, question: str) -> list[int]:
        """The ten best rows."""
        cosines = self._vectors @ self._embedder.query(question)
        by_cosine = np.argpartition(-cosines, DEPTH)[:DEPTH]
        scores = self._engine.get_scores(question.split())
        by_words = np.argpartition(-scores, DEPTH)[:DEPTH]
        pool = np.union1d(by_cosine, by_words)
        fused = 0.5 * scores[pool] / (scores[pool].max() or 1.0) + 0.5 * cosines[pool]
        return pool[np.argsort(-fused)[:10]].tolist()
