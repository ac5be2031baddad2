"""Mode `lexical`: the share of the question that a row says; there is no order by vectors.

    relevance = w · lexical         in [0, w], w the weight of `lexical` (1)

Rows of equal share fall by BM25. A row that shares no term with the question is not in
this order and leaves the window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loom_server.fusion.order import relevance_of
from loom_server.model.candidate import Candidate, Relevance
from loom_server.model.plan import Plan


def lexical(pool: Sequence[Candidate], plan: Plan) -> Mapping[int, Relevance]:
    """The relevance of the rows that a lexical leg found."""
    weight = plan.weight("lexical")
    return {
        row.id: relevance_of(row.score("bm25"), ("lexical", weight * row.score("lexical")))
        for row in pool
        if row.score("lexical") > 0.0 or row.score("bm25") > 0.0
    }
