"""Mode `rrf`: reciprocal rank fusion of the lexical and the semantic order.

    relevance = w_l · a / (k + rank_lexical)  +  w_s / (k + rank_semantic)

Cormack, Clarke and Büttcher 2009; k 60 and both weights 1 unless the request says
otherwise. Each order is what its leg brought, to the leg's quota, ties broken by the other
score: a row that only words found is in no semantic order, although its cosine is known.
`a` is 1, but for a code- or path-shaped query the plan's `lexical_weight` for rows that
carry none of its whole identifiers.

Bound: [0, (w_l + w_s) / (k + 1)]; 0 only for a row in neither order. Of two rows of equal
`a`, one that is at least as good in both orders never falls behind. Sums are often equal
(first and second, second and first); then the row that says more of the question leads.

Limit: only ranks count, so a weak order weighs as much as a strong one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loom_server.fusion.order import cosine, relevance_of, shared_ranks
from loom_server.fusion.pool import VECTOR_LEG
from loom_server.model.candidate import Candidate, Relevance
from loom_server.model.plan import Plan


def rrf(pool: Sequence[Candidate], plan: Plan) -> Mapping[int, Relevance]:
    """The relevance of every row of the pool."""
    words = shared_ranks((row.id, row.score("lexical"), cosine(row)) for row in pool if row.score("lexical") > 0.0)
    senses = shared_ranks((row.id, cosine(row), row.score("lexical")) for row in pool if VECTOR_LEG in row.ranks)
    lexical, semantic = plan.weight("lexical"), plan.weight("fact")
    return {
        row.id: relevance_of(
            row.score("lexical"),
            ("rrf_lexical", _part(lexical * _share(row, plan), words.get(row.id), plan.rrf_k)),
            ("rrf_semantic", _part(semantic, senses.get(row.id), plan.rrf_k)),
        )
        for row in pool
    }


def _share(row: Candidate, plan: Plan) -> float:
    return 1.0 if row.matched & plan.identifiers else plan.lexical_weight


def _part(weight: float, rank: int | None, k: int) -> float:
    return 0.0 if rank is None else weight / (k + rank)
