"""Values of the stages with everything but the part under test filled in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from loom_server.model.candidate import Candidate, Ranked
from loom_server.model.memory import Memory, Status
from loom_server.model.plan import LegPlan, Plan
from loom_server.model.query import Query, SearchRequest, Term, TermKind
from loom_server.model.scope import Identity, Scope
from loom_server.model.window import Window

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
VECTOR = np.full(4, 0.5, dtype=np.float32)
LEGS = (LegPlan("fact", 100), LegPlan("lexical", 100), LegPlan("bm25", 100))


def a_plan(**fields: Any) -> Plan:
    """A plan of the mode `semantic` with the default lines."""
    given: dict[str, Any] = {
        "mode": "semantic",
        "legs": LEGS,
        "window": 300,
        "top_k": 10,
        "alpha": 0.5,
        "rrf_k": 60,
        "lexical_weight": 1.0,
        "floor": 0.22,
        "abstain_threshold": 0.30,
        "floor_mode": "readmit",
        "per_key_cap": 1,
        "top_k_ceiling": 200,
    }
    return Plan(**{**given, **fields})


def a_request(query: str = "what colour is the car", **fields: Any) -> SearchRequest:
    """A request that leaves every choice to the defaults."""
    return SearchRequest(query, Scope("acme", "team"), **fields)


def a_term(text: str, df: int = 1, *, kind: TermKind = "word", idf: float = 1.0) -> Term:
    """A slot of a query; a stop word has no token that BM25 counts, an identifier one of its own."""
    token = f"i:{text}" if kind == "identifier" else text
    return Term(text, kind, (token,), None if kind == "stop" else token, idf, idf, df)


def a_query(*terms: Term, documents: int = 100, vector: bool = True, text: str | None = None) -> Query:
    """A query of the given slots in a namespace of `documents` rows."""
    words = " ".join(term.text for term in terms) if text is None else text
    return Query(words, terms, VECTOR if vector else None, documents, 10.0)


def a_candidate(
    row_id: int, cosine: float | None = None, lexical: float = 0.0, bm25: float = 0.0, matched: int = 0
) -> Candidate:
    """A pooled row; a score of 0 means that the leg did not find it."""
    scores = {"lexical": lexical, "bm25": bm25}
    if cosine is not None:
        scores["fact"] = cosine
    found = {leg: score for leg, score in scores.items() if score}
    return Candidate(row_id, dict.fromkeys(found, 1), found, cosine, matched)


def a_memory(
    row_id: int, key: str | None = None, *, status: Status = "live", expires_at: datetime | None = None
) -> Memory:
    """A stored row; without a key it has one of its own."""
    text = f"row {row_id}"
    identity = Identity("acme", "team", "agent", "anna", "s1")
    return Memory(
        row_id, identity, key or f"key-{row_id}", 1, status, f'"{text}"', text, "0" * 64, expires_at=expires_at
    )


def a_row(row_id: int, cosine: float = 0.5, *, matched: int = 0, memory: Memory | None = None) -> Ranked:
    """A ranked row whose relevance is its cosine."""
    candidate = a_candidate(row_id, cosine, matched=matched)
    return Ranked(memory or a_memory(row_id), candidate, cosine, 0.0, (("cosine", cosine),), cosine)


def a_window(*rows: Ranked, ranked: int | None = None, **fields: Any) -> Window:
    """A window in which every row that came in is served."""
    given: dict[str, Any] = {
        "fallen": (),
        "beyond": (),
        "below_floor": 0,
        "best_similarity": max((row.similarity for row in rows), default=0.0),
        "without_body": frozenset[int](),
    }
    return Window(rows=rows, ranked=len(rows) if ranked is None else ranked, **{**given, **fields})
