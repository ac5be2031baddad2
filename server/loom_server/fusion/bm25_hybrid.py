"""Mode `bm25_hybrid`: normalised BM25 and the cosine, each by its share of the weights.

    relevance = s · bm25 + (1 - s) · cosine,      s = w_bm25 / (w_bm25 + w_fact)

Equal weights unless the request gives others, so s is 0.5. BM25 comes divided by the
highest value that any row could reach and lies in [0, 1]; the bound is [-1, 1]. Rows of
equal sums fall by cosine.

Limit: a word said once in a row of average length reaches 1 / (k1 + 1), which is 0.45, so
a perfect match by words scores near 0.45 where a perfect match by meaning scores 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loom_server.fusion.order import cosine, relevance_of
from loom_server.model.candidate import Candidate, Relevance
from loom_server.model.plan import Plan


def bm25_hybrid(pool: Sequence[Candidate], plan: Plan) -> Mapping[int, Relevance]:
    """The relevance of every row of the pool."""
    words, senses = plan.weight("bm25"), plan.weight("fact")
    total = words + senses or 1.0
    return {
        row.id: relevance_of(
            cosine(row),
            ("bm25_hybrid_bm25", words / total * row.score("bm25")),
            ("bm25_hybrid_cosine", senses / total * cosine(row)),
        )
        for row in pool
    }
