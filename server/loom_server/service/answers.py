"""From stored memories and finished searches to the wire's answers.

Everything an answer tells is read off the values that the stages left; nothing is scored or
decided here, so an explained answer differs from a plain one by its explanations alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from loom_client import wire
from loom_server.analysis.analyse import matches
from loom_server.engine.hydrate import EXCERPT_CHARS
from loom_server.engine.search import SearchResult
from loom_server.errors import LoomError
from loom_server.gate.confidence import confidence
from loom_server.gate.evidence import evidence_of, rare_terms
from loom_server.gate.floor import threshold_of
from loom_server.model.candidate import LegResult, Ranked
from loom_server.model.clock import memory_id_of
from loom_server.model.memory import Memory
from loom_server.service.problems import problem

AGREEMENT_DEPTH = 10
_SCORES = {
    "semantic": "rank_score is the cosine of the question and the row.",
    "rrf": "rank_score adds weight / (k + rank) over the lexical and the cosine order.",
    "hybrid": "rank_score is alpha x lexical share + (1 - alpha) x cosine.",
    "bm25_hybrid": "rank_score is the weighted mean of normalised BM25 and cosine.",
    "lexical": "rank_score is the share of the question's terms, by idf, that the row carries.",
}


def stored(memory: Memory) -> wire.StoredMemory:
    """One version, whole."""
    identity = memory.identity
    return wire.StoredMemory.model_construct(
        memory_key=memory.memory_key,
        memory_id=memory_id_of(memory.id),
        version=memory.version,
        status=memory.status,
        value=orjson.loads(memory.value) if memory.value else None,
        content_sha256=memory.content_sha256,
        memory_type=memory.memory_type,
        canonical=memory.canonical,
        summary=memory.summary,
        metadata=orjson.loads(memory.metadata),
        tags=memory.tags,
        category=memory.category,
        entities=memory.entities,
        confidence=memory.confidence,
        source_class=memory.source_class,
        source_trace=memory.source_trace,
        source_resource_id=memory.source_resource_id,
        sensitivity=memory.sensitivity,
        namespace=identity.namespace,
        agent=identity.agent,
        user_id=identity.user_id,
        session_id=identity.session_id,
        run_id=identity.run_id,
        created_at=memory.created_at,
        valid_at=memory.valid_at,
        valid_to=memory.valid_to,
        expires_at=memory.expires_at,
        superseded_by=memory_id_of(memory.superseded_by) if memory.superseded_by else None,
        superseded_at=memory.superseded_at,
    )


def answer(
    result: SearchResult, *, tags: bool, language: str, next_page: str | None = None
) -> wire.MemorySearchResponse:
    """The whole answer of a search; `tags` says whether hits carry theirs, `next_page` is the cursor."""
    page = _Page(result, tags, language)
    verdict = result.verdict
    legs = {leg.leg: leg for leg in result.legs}
    return wire.MemorySearchResponse.model_construct(
        results=tuple(page.hit(row) for row in result.window.rows),
        abstain=verdict.abstain,
        abstain_code=verdict.code,
        abstain_reason=verdict.reason if verdict.abstain else "",
        retrieval_confidence=verdict.confidence,
        retrieval_risk=verdict.risk,
        degraded=result.degraded,
        search_mode=result.plan.mode,
        retrieval_plan=" ".join(result.plan.reasons),
        retrieval_work=wire.RetrievalWork.model_construct(
            statements=result.store.statements,
            rows=result.store.rows,
            ms={stage: round(took, 2) for stage, took in result.trace.stages.items()},
        ),
        candidates_total=result.pooled,
        stale_dropped=result.stale,
        below_floor=result.window.below_floor,
        page_offset=0 if result.request.page is None else result.request.page.offset,
        next_page=next_page,
        top_k_ceiling=result.plan.top_k_ceiling,
        namespaces_searched=(result.request.scope.namespace,),
        embedding_model=result.model if result.query.has_vector else "",
        term_leg=_term_leg(result, legs),
        route_agreement=_agreement(legs),
        calibration_explanation=(
            f"Tier {result.plan.tier}: floor {result.plan.floor:g} and abstain threshold "
            f"{result.plan.abstain_threshold:g} are settings; no calibration of the embedder is in force."
        ),
        score_explanation=_SCORES[result.plan.mode] if result.request.explain else None,
        next=_next(result),
        request_id="",
    )


class _Page:
    """What all hits of one answer share."""

    def __init__(self, result: SearchResult, tags: bool, language: str) -> None:
        self._result = result
        self._tags = tags
        self._language = language
        self._best = max((row.rank_score for row in result.window.ordered), default=0.0)
        self._rare = rare_terms(result.query)
        self._threshold = threshold_of(result.query, result.plan)

    def hit(self, row: Ranked) -> wire.Hit:
        """One served row."""
        memory, identity, result = row.memory, row.memory.identity, self._result
        excerpt = "" if memory.id in result.window.without_body else memory.content[:EXCERPT_CHARS]
        hit = wire.Hit.model_construct(
            memory_key=memory.memory_key,
            memory_id=memory_id_of(memory.id),
            memory_type=memory.memory_type,
            content_excerpt=excerpt,
            similarity=row.similarity,
            distance=round(1.0 - row.similarity, 6),
            rank_score=row.rank_score,
            rrf_score=row.rank_score if result.plan.mode == "rrf" else None,
            normalized_score=round(max(0.0, row.rank_score / self._best), 6) if self._best > 0 else 0.0,
            confidence=confidence(evidence_of(row, self._rare), self._threshold),
            below_threshold=row.below_threshold,
            below_floor=row.below_floor,
            tags=memory.tags if self._tags else None,
            entities=memory.entities,
            agent=identity.agent,
            user_id=identity.user_id,
            session_id=identity.session_id,
            namespace=identity.namespace,
            source="fact",
            source_class=memory.source_class,
            source_resource_id=memory.source_resource_id,
            status=memory.status,
            superseded_by=memory_id_of(memory.superseded_by) if memory.superseded_by else None,
            superseded_at=memory.superseded_at,
            version=memory.version,
            created_at=memory.created_at,
            valid_at=memory.valid_at,
            body_truncated=len(excerpt) < len(memory.content),
            matched_terms=None,
            explanation=None,
            score_components=None,
            legs=None,
        )
        return hit.model_copy(update=self._explained(row, excerpt)) if result.request.explain else hit

    def _explained(self, row: Ranked, excerpt: str) -> dict[str, object]:
        candidate = row.candidate
        matched = [term for slot, term in enumerate(self._result.query.terms) if candidate.matched >> slot & 1]
        places: dict[str, list[tuple[int, int]]] = {term.text: [] for term in matched}
        for match in matches(excerpt, matched, self._language):
            places.setdefault(match.term, []).append((match.start, match.end))
        found = ", ".join(f"{leg} rank {rank}" for leg, rank in sorted(candidate.ranks.items()))
        parts = " + ".join(f"{name} {amount:.4f}" for name, amount in row.components)
        return {
            "matched_terms": tuple(
                wire.MatchedTerm.model_construct(term=term, offsets=tuple(spans)) for term, spans in places.items()
            ),
            "explanation": f"{row.rank_score:.4f} = {parts or '0'}. Found by {found}.",
            "score_components": dict(row.components),
            "legs": {
                leg: wire.LegEvidence.model_construct(rank=rank, score=candidate.scores[leg])
                for leg, rank in sorted(candidate.ranks.items())
            },
        }


def _term_leg(result: SearchResult, legs: dict[str, LegResult]) -> str:
    preferred = ("bm25", "lexical") if result.plan.mode == "bm25_hybrid" else ("lexical", "bm25")
    return next((leg for leg in preferred if leg in legs and legs[leg].state == "ok"), "")


def _agreement(legs: dict[str, LegResult]) -> float | None:
    """Overlap of the vector and the lexical top tens, as a share of the shorter one."""
    words = legs.get("lexical") or legs.get("bm25")
    vectors = legs.get("fact")
    if words is None or vectors is None or "failed" in (words.state, vectors.state):
        return None
    first, second = set(words.ids[:AGREEMENT_DEPTH]), set(vectors.ids[:AGREEMENT_DEPTH])
    shorter = min(len(first), len(second))
    return round(len(first & second) / shorter, 3) if shorter else 0.0


def _next(result: SearchResult) -> str:
    if not result.window.ranked and not result.query.documents:
        scope = result.request.scope
        return f"Check org '{scope.org}' and namespace '{scope.namespace}', or write a memory there first."
    if result.verdict.code == "page_expired":
        return "Search again without page."
    if result.verdict.abstain:
        return "Tell that it is not known, or ask in other words; rows that are served are only the nearest."
    beyond = len(result.window.beyond)
    if beyond:
        return f"Answer from the rows; {beyond} more were ranked: send next_page as page to see them, or raise top_k."
    return "Answer from the rows."


def refused(key: str, error: LoomError) -> wire.MemoryRefused:
    """The answer of an item that was not written."""
    return wire.MemoryRefused(memory_key=key, status="refused", error=problem(error))


def sum_up(results: Sequence[wire.MemorySetResponse | wire.MemoryRefused]) -> wire.MemorySetManyResponse:
    """The answer of `set_many` over its items' answers."""
    done = [result for result in results if isinstance(result, wire.MemorySetResponse)]
    unchanged = sum(1 for result in done if result.noop)
    written = sum(1 for result in done if not result.noop and not result.dry_run)
    return wire.MemorySetManyResponse(
        results=tuple(results), written=written, unchanged=unchanged, refused=len(results) - len(done)
    )
