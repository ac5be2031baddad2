"""The question: as asked (`SearchRequest`), and as understood (`Query`).

A `Term` is one slot of the question: every stored form that would count as a match of
it. A row's matches are a bit mask over the slots, so at most `MAX_TERMS` slots exist.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from loom_server.model.page import Page
from loom_server.model.scope import Filters, Scope

MAX_TERMS = 63

SearchMode = Literal["semantic", "rrf", "hybrid", "bm25_hybrid", "lexical"]
FloorMode = Literal["readmit", "ids_only", "drop"]
TermKind = Literal["word", "stop", "identifier", "part", "bigram"]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search, validated at the edge. None means "the next default decides"."""

    query: str
    scope: Scope
    filters: Filters = field(default_factory=Filters)
    search_mode: SearchMode | None = None
    legs: tuple[str, ...] | None = None
    leg_weights: tuple[tuple[str, float], ...] = ()
    candidates: tuple[tuple[str, int], ...] = ()
    alpha: float | None = None
    rrf_k: int | None = None
    rrf_adaptive_lexical: bool = True
    top_k: int | None = None
    min_similarity: float | None = None
    floor_mode: FloorMode | None = None
    include_superseded: bool = False
    exclude_keys: tuple[str, ...] = ()
    explain: bool = False
    page: Page | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """One slot of the question.

    `forms` are the index tokens that match it; `scored` is the one that BM25 counts
    (None for a stop word). `document_frequency` is over the namespace, of any form.
    """

    text: str
    kind: TermKind
    forms: tuple[str, ...]
    scored: str | None
    idf: float = 0.0
    scored_idf: float = 0.0
    document_frequency: int = 0


@dataclass(frozen=True, slots=True)
class Query:
    """The question understood. `vector` is None where no embedder served it."""

    text: str
    terms: tuple[Term, ...]
    vector: NDArray[np.float32] | None
    documents: int = 0
    average_length: float = 0.0
    degraded: tuple[str, ...] = ()

    @property
    def has_vector(self) -> bool:
        """Whether cosines mean anything: a vector of zeros is as far from all rows as from none."""
        return self.vector is not None and bool(self.vector.any())

    @property
    def identifiers(self) -> int:
        """The mask of the slots that are whole identifiers."""
        return sum(1 << i for i, term in enumerate(self.terms) if term.kind == "identifier")
