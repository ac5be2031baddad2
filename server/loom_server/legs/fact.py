"""Fact leg: cosine of the question and the stored vectors, an exact scan.

    similarity = 1 - L2SquaredDistance(v, q) / 2        v and q of unit length

The squared distance over BFloat16 is the engine's fastest exact scan, and for unit
vectors it is the cosine. The leg also hands back the cosines of rows beyond its quota,
up to `KNOWN_ROWS`: they cost nothing more than their transport, and spare the second
round a statement in small namespaces.

Limits: BFloat16 keeps 8 bits of mantissa, so a cosine is good to about 0.002. Only
vectors of the live model are read.
"""

from __future__ import annotations

from typing import cast

from loom_server.legs.base import LegContext
from loom_server.model.candidate import LegResult
from loom_server.model.plan import LegPlan
from loom_server.store.statement import Template

NAME = "fact"
KNOWN_ROWS = 1_000

COSINE = "round(1 - L2SquaredDistance(vector, reinterpret(unhex({query_vector:String}), 'Array(Float32)')) / 2, 6)"
"""The one cosine expression; `query_vector` is the float32 bytes in hexadecimal."""

_SCAN = Template(
    "leg.fact",
    f"""
SELECT id, {COSINE} AS similarity
FROM loom.memory_embeddings
PREWHERE /*scope*/ AND model = {{model:String}} AND live >= {{least_live:UInt8}}
WHERE /*filters*/
ORDER BY similarity DESC, id
LIMIT {{limit:UInt32}}
""",
)


class FactLeg:
    """Scans the value vectors of the scope."""

    serves = (NAME,)

    def run(self, context: LegContext, plans: tuple[LegPlan, ...]) -> tuple[LegResult, ...]:
        """The rows nearest to the question; silent without a query vector."""
        vector = context.query.vector
        if vector is None:
            return (LegResult(NAME, "silent", reason="no_vector"),)
        quota = plans[0].quota
        statement = _SCAN.bind(
            context.request.scope,
            {
                "query_vector": vector.tobytes().hex(),
                "model": context.model,
                "least_live": 0 if context.request.include_superseded else 1,
                "limit": max(quota, KNOWN_ROWS),
            },
            filters=context.request.filters,
        )
        found = context.store.query(statement, context.deadline)
        ids = cast("list[int]", found.column("id"))
        scores = cast("list[float]", found.column("similarity"))
        if not ids:
            return (LegResult(NAME, "silent", reason="no_row"),)
        known = dict(zip(ids[quota:], scores[quota:], strict=True))
        best = tuple(ids[:quota])
        return (LegResult(NAME, "ok", best, tuple(scores[:quota]), (0,) * len(best), known),)
