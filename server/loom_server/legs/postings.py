"""The statement that the lexical and the BM25 leg share: one read, two scores.

Every posting of the question's tokens is read once, grouped by row, and each leg keeps
its own best rows with the mask of the terms that they match. Ties break by the other
score, then by key and row id.
"""

from __future__ import annotations

from typing import cast

from loom_server.legs import bm25, lexical
from loom_server.legs.base import LegContext
from loom_server.model.candidate import LegResult
from loom_server.model.plan import LegPlan
from loom_server.model.query import Query
from loom_server.store.statement import Template

_SCORE = Template(
    "leg.postings",
    f"""
SELECT
    groupArraySorted({{quota_lexical:UInt64}})((-lexical, -bm25, memory_key, id, matched)) AS by_lexical,
    groupArraySorted({{quota_bm25:UInt64}})((-bm25, -lexical, memory_key, id, matched)) AS by_bm25
FROM
(
    SELECT
        id,
        any(memory_key) AS memory_key,
        groupBitOr(slots) AS matched,
        {bm25.SCORE} AS bm25,
        {lexical.SCORE} AS lexical
    FROM
    (
        SELECT
            id, memory_key, tf, dl,
            transform(token, {{tokens:Array(String)}}, {{token_slots:Array(UInt64)}}, toUInt64(0)) AS slots,
            transform(token, {{tokens:Array(String)}}, {{token_weights:Array(Float64)}}, 0.0) AS weight
        FROM loom.postings
        PREWHERE /*scope*/ AND plane = 'fact' AND token IN {{tokens:Array(String)}} AND live >= {{least_live:UInt8}}
        WHERE /*filters*/
    )
    GROUP BY id
)
""",
)

_Scored = tuple[float, float, str, int, int]


class PostingsLeg:
    """Serves `lexical` and `bm25`."""

    serves = (lexical.NAME, bm25.NAME)

    def run(self, context: LegContext, plans: tuple[LegPlan, ...]) -> tuple[LegResult, ...]:
        """Both legs' best rows; silent where no term of the question occurs."""
        query = context.query
        if not any(term.document_frequency for term in query.terms):
            return tuple(LegResult(plan.name, "silent", reason="no_term") for plan in plans)
        tokens, slots, weights = token_columns(query)
        quotas = {plan.name: plan.quota for plan in plans}
        statement = _SCORE.bind(
            context.request.scope,
            {
                "tokens": tokens,
                "token_slots": slots,
                "token_weights": weights,
                "average_length": query.average_length or 1.0,
                "bm25_total": bm25.total(weights),
                "shares": lexical.shares(query.terms),
                "slot_count": len(query.terms),
                "least_live": 0 if context.request.include_superseded else 1,
                "quota_lexical": quotas.get(lexical.NAME, 1),
                "quota_bm25": quotas.get(bm25.NAME, 1),
            },
            filters=context.request.filters,
        )
        found = context.store.query(statement, context.deadline)
        return tuple(_result(plan.name, found.column(f"by_{plan.name}")[0]) for plan in plans)


def token_columns(query: Query) -> tuple[list[str], list[int], list[float]]:
    """Every stored token that counts, the mask of the slots it matches, and its BM25 weight."""
    slots: dict[str, int] = {}
    weights: dict[str, float] = {}
    for index, term in enumerate(query.terms):
        for form in term.forms:
            slots[form] = slots.get(form, 0) | (1 << index)
        if term.scored is not None:
            weights[term.scored] = term.scored_idf
    tokens = list(slots)
    return tokens, [slots[token] for token in tokens], [weights.get(token, 0.0) for token in tokens]


def _result(leg: str, column: object) -> LegResult:
    rows = [row for row in cast("list[_Scored]", column) if row[0] < 0]
    if not rows:
        return LegResult(leg, "silent", reason="no_term")
    return LegResult(
        leg,
        "ok",
        tuple(row[3] for row in rows),
        tuple(-row[0] for row in rows),
        tuple(row[4] for row in rows),
    )
