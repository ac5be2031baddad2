"""First stage: the question, analysed as the rows were, and weighed by its namespace.

    idf(df) = ln(1 + (N - df + ½) / (df + ½))

with N and df of the namespace, so that another tenant's words change nothing. The query
vector is weighted by the namespace's own token counts where the embedder can do that:

    share(token) = (count + PRIOR_TOKENS · background(token)) / (total + PRIOR_TOKENS)

so that in a namespace of a few rows "who" and "the" do not count as rare words. An
embedder that fails, or whose model is not the org's, leaves the words: the search is
degraded and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log

import numpy as np
from numpy.typing import NDArray

from loom_server.analysis.analyse import query_terms
from loom_server.embed.base import Embedder
from loom_server.errors import EmbedError
from loom_server.model.deadline import Deadline
from loom_server.model.query import Query, Term
from loom_server.store.statistics import NamespaceStatistics

PRIOR_TOKENS = 1_000
"""Tokens of text at large that stand behind a namespace's own; measured in docs/adr/0002."""


def idf(documents: int, document_frequency: int) -> float:
    """Inverse document frequency in natural logarithms; never negative.

    Needs 0 <= document_frequency <= documents.
    """
    return log(1.0 + (documents - document_frequency + 0.5) / (document_frequency + 0.5))


def understand(
    text: str,
    language: str,
    statistics: NamespaceStatistics,
    embedder: Embedder,
    org_model: str | None,
    deadline: Deadline | None = None,
) -> Query:
    """The question with its terms weighed and its vector, in one scope's own figures."""
    terms = _weighed(_served(query_terms(text, language)), statistics)
    # Punctuation has vectors too, and they are near to anything.
    vector, degraded = _vector(text, statistics, embedder, org_model, deadline) if terms else (None, ())
    average = max(0.0, statistics.average_length)
    return Query(text, terms, vector, max(0, statistics.documents), average, degraded)


def _served(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """Stop words count only where a question has nothing else."""
    return tuple(term for term in terms if term.kind != "stop") or terms


def _weighed(terms: tuple[Term, ...], statistics: NamespaceStatistics) -> tuple[Term, ...]:
    known = statistics.document_frequencies(sorted({form for term in terms for form in term.forms}))
    documents = max(0, statistics.documents)

    def weigh(term: Term) -> Term:
        frequency = _within(documents, sum(known.get(form, 0) for form in term.forms))
        scored = _within(documents, known.get(term.scored, 0) if term.scored is not None else 0)
        return replace(
            term, idf=idf(documents, frequency), scored_idf=idf(documents, scored), document_frequency=frequency
        )

    return tuple(map(weigh, terms))


def _within(documents: int, frequency: int) -> int:
    # Roll-ups that a crash left wrong may hold too little or too much; a search goes on until they are mended.
    return max(0, min(documents, frequency))


def _vector(
    text: str, statistics: NamespaceStatistics, embedder: Embedder, org_model: str | None, deadline: Deadline | None
) -> tuple[NDArray[np.float32] | None, tuple[str, ...]]:
    if org_model is not None and org_model != embedder.identity.name:
        return None, ("fact: model_mismatch",)

    def share(tokens: Sequence[str]) -> list[float]:
        counts = statistics.token_counts(tokens)
        total = max(0, statistics.total_tokens) + PRIOR_TOKENS
        background = embedder.background(tokens)
        return [
            (max(0, counts.get(token, 0)) + PRIOR_TOKENS * usual) / total
            for token, usual in zip(tokens, background, strict=True)
        ]

    try:
        vector = embedder.query(text, share, deadline)
    except EmbedError as error:
        return None, (f"fact: {error.code}",)
    return (vector if bool(vector.any()) else None), ()
