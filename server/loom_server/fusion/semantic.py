"""Mode `semantic`: the cosine of the question and the row.

    relevance = w · cosine          in [-w, w], w the weight of `fact` (1)

Rows of equal cosine fall by their lexical score; so does the whole window where the query
has no vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loom_server.fusion.order import cosine, relevance_of
from loom_server.model.candidate import Candidate, Relevance
from loom_server.model.plan import Plan


def semantic(pool: Sequence[Candidate], plan: Plan) -> Mapping[int, Relevance]:
    """The relevance of every row of the pool."""
    weight = plan.weight("fact")
    return {row.id: relevance_of(row.score("lexical"), ("cosine", weight * cosine(row))) for row in pool}
