"""Fact leg: cosine of the question and the stored vectors, by an exact scan or codes first.

    similarity = 1 - L2SquaredDistance(v, q) / 2        v and q of unit length

The squared distance over BFloat16 is the engine's fastest exact scan, and for unit
vectors it is the cosine. The leg also hands back the cosines of rows beyond its quota,
up to `KNOWN_ROWS`: they cost nothing more than their transport, and spare the second
round a statement in small namespaces.

    exact   every vector of the scope
    codes   the `POOL` rows of the least Hamming distance between codes (three bits a dimension, kept by the
            engine beside each vector: migration 0003), and of these the cosines

Codes are a fifth of the bytes. On 112,756 real sentences, of the ten nearest rows .998 are in a pool of 300, where sign
bits alone hold .958 (docs/adr/0009).

Limits: BFloat16 keeps 8 bits of mantissa, so a cosine is good to about 0.002. Only
vectors of the live model are read.
"""

from __future__ import annotations

from math import ceil
from typing import cast

import numpy as np
from numpy.typing import NDArray

from loom_server.legs.base import LegContext
from loom_server.model.candidate import LegResult
from loom_server.model.plan import LegPlan
from loom_server.store.statement import Template
from loom_server.store.store import Statement

NAME = "fact"
KNOWN_ROWS = 1_000
BITS_A_DIMENSION = 3
POOL = 300
"""Rows that codes choose at least; else `POOL_OF_QUOTA` quotas."""
POOL_OF_QUOTA = 5

_QUESTION = "reinterpret(unhex({query_vector:String}), 'Array(Float32)')"
COSINE = f"round(1 - L2SquaredDistance(vector, {_QUESTION}) / 2, 6)"
"""The one cosine expression; `query_vector` is the float32 bytes in hexadecimal."""

_CODE = f"""unbin(arrayStringConcat(arrayMap(x -> multiIf(
        x * sqrt(length({_QUESTION})) <= -0.6, '000', x <= 0, '100', x * sqrt(length({_QUESTION})) <= 0.6, '110', '111'
    ), {_QUESTION})))"""
"""The question's code, as migration 0003 makes those of the rows."""

_OF_THE_MODEL = """
FROM loom.memory_embeddings
PREWHERE /*scope*/ AND model = {model:String} AND live >= {least_live:UInt8}"""

_EXACT = Template(
    "leg.fact",
    f"""
SELECT id, {COSINE} AS similarity {_OF_THE_MODEL}
WHERE /*filters*/
ORDER BY similarity DESC, id
LIMIT {{limit:UInt32}}
""",
)

# Cast to one width: the distance of two strings that may differ in length takes twice the time.
_CODES = Template(
    "leg.fact.codes",
    f"""
SELECT id, {COSINE} AS similarity {_OF_THE_MODEL} AND id IN
(
    SELECT id {_OF_THE_MODEL}
    WHERE /*filters*/
    ORDER BY bitHammingDistance(
        toFixedString(code, {{code_bytes:UInt32}}), toFixedString({_CODE}, {{code_bytes:UInt32}})
    ), id
    LIMIT {{pool:UInt32}}
)
ORDER BY similarity DESC, id
LIMIT {{limit:UInt32}}
""",
)

LARGE_ROWS = 50_000
_LARGE = {
    "max_threads": 2,
    "merge_tree_min_rows_for_concurrent_read": 8_192,
    "merge_tree_min_bytes_for_concurrent_read": 1_048_576,
}
"""A scan of a large namespace on two threads; the engine would else begin the second one far later."""


class FactLeg:
    """Scans the value vectors of the scope."""

    serves = (NAME,)

    def run(self, context: LegContext, plans: tuple[LegPlan, ...]) -> tuple[LegResult, ...]:
        """The rows nearest to the question; silent without a query vector."""
        vector = context.query.vector
        if vector is None:
            return (LegResult(NAME, "silent", reason="no_vector"),)
        quota = plans[0].quota
        found = context.store.query(_statement(context, plans[0], vector), context.deadline)
        ids = cast("list[int]", found.column("id"))
        scores = cast("list[float]", found.column("similarity"))
        if not ids:
            return (LegResult(NAME, "silent", reason="no_row"),)
        known = dict(zip(ids[quota:], scores[quota:], strict=True))
        best = tuple(ids[:quota])
        return (LegResult(NAME, "ok", best, tuple(scores[:quota]), (0,) * len(best), known),)


def _statement(context: LegContext, plan: LegPlan, vector: NDArray[np.float32]) -> Statement:
    request = context.request
    values: dict[str, object] = {
        "query_vector": vector.tobytes().hex(),
        "model": context.model,
        "least_live": 0 if request.include_superseded else 1,
        "limit": max(plan.quota, KNOWN_ROWS),
    }
    template = _EXACT
    if plan.form == "codes":
        template = _CODES
        values |= {
            "code_bytes": ceil(BITS_A_DIMENSION * len(vector) / 8),
            "pool": max(POOL, POOL_OF_QUOTA * plan.quota),
        }
    settings = _LARGE if context.query.documents >= LARGE_ROWS else None
    return template.bind(request.scope, values, filters=request.filters, settings=settings)
