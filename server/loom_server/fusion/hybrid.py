"""Mode `hybrid`: the convex sum of the lexical score and the cosine.

    relevance = w_l · alpha · lexical  +  w_s · (1 - alpha) · cosine

Lexical in [0, 1], cosine in [-1, 1], alpha 0.5; with weights of 1 the bound is [-1, 1].
Raw scores, not scaled by the pool: a list of one keeps its hit, and a row's score does not
move when others come and go (for the convex sum against ranks: Bruch, Gai and Ingber 2023).
Rows of equal sums fall by cosine.

Limit: cosines of real rows sit in a narrow band, so at alpha 0.5 words decide more than
half of the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loom_server.fusion.order import cosine, relevance_of
from loom_server.model.candidate import Candidate, Relevance
from loom_server.model.plan import Plan


def hybrid(pool: Sequence[Candidate], plan: Plan) -> Mapping[int, Relevance]:
    """The relevance of every row of the pool."""
    lexical = plan.weight("lexical") * plan.alpha
    semantic = plan.weight("fact") * (1.0 - plan.alpha)
    return {
        row.id: relevance_of(
            cosine(row),
            ("hybrid_lexical", lexical * row.score("lexical")),
            ("hybrid_cosine", semantic * cosine(row)),
        )
        for row in pool
    }
