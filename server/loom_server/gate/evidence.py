"""Absolute evidence of a row: its cosine, its share of the rare terms, a whole identifier.

    rare term      a slot, no stop word, of df <= max(2, 5 % of the namespace's rows)
    rare_coverage  Σ idf(rare terms that the row carries) / Σ idf(rare terms)

A term that nobody wrote (df 0) is rare and weighs most, so one absent word keeps every row
below full coverage: "zebra migration patterns" is not answered by a row that says only
"migration". The share of 5 % was chosen on conversations of 400 to 700 turns: 1 % of the
questions then have no rare term (15 % at a share of 1 %), and 3 % of off-topic questions
meet a row of full coverage (5 % at 1 %). Two rows at least, so that in a small namespace a
word said twice may still tell.

A camel-case name of letters (`GitHub`) is an identifier that is also written and counted
as a plain word; it is evidence as an identifier only where it is rare, or a namespace that
speaks of GitHub everywhere would answer any question that names it.

Nothing here depends on the other candidates, so evidence compares across queries.

Limits: a question of one rare word is covered by every row with that word. Who did what is
not read: the right words said of another person are full coverage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum

from loom_server.model.candidate import Ranked
from loom_server.model.query import Query, Term
from loom_server.model.verdict import Evidence

RARE_SHARE = 0.05
RARE_ROWS = 2

WHOLE = "i:"
"""How the index token of a whole identifier begins that is not written like a word (ADR 0001)."""


@dataclass(frozen=True, slots=True)
class RareTerms:
    """Masks of the rare slots and of the identifiers that are evidence, and every slot's weight.

    A slot that is not rare weighs 0.
    """

    mask: int
    weights: tuple[float, ...]
    identifiers: int

    def coverage(self, matched: int) -> float:
        """The idf-weighted share of the rare slots in `matched`, in [0, 1]; 1 only for all of them."""
        if not matched & self.mask:
            return 0.0
        held = fsum([weight for slot, weight in enumerate(self.weights) if matched >> slot & 1])
        return held / fsum(self.weights)

    def missing(self, matched: int) -> tuple[int, ...]:
        """The rare slots that are not in `matched`."""
        left = self.mask & ~matched
        return tuple(slot for slot in range(len(self.weights)) if left >> slot & 1)


def rare_terms(query: Query) -> RareTerms:
    """Which slots of the query tell rows apart."""
    limit = max(RARE_ROWS, RARE_SHARE * query.documents)
    rare = _mask(query, lambda term: term.kind != "stop" and term.document_frequency <= limit)
    unlike_words = _mask(query, lambda term: (term.scored or "").startswith(WHOLE))
    return RareTerms(
        mask=rare,
        weights=tuple(term.idf if rare >> slot & 1 else 0.0 for slot, term in enumerate(query.terms)),
        identifiers=query.identifiers & (unlike_words | rare),
    )


def _mask(query: Query, holds: Callable[[Term], bool]) -> int:
    return sum(1 << slot for slot, term in enumerate(query.terms) if holds(term))


def evidence(row: Ranked, query: Query) -> Evidence:
    """The evidence of one row for one query."""
    return evidence_of(row, rare_terms(query))


def evidence_of(row: Ranked, rare: RareTerms) -> Evidence:
    """The same where the query's rare terms are at hand."""
    matched = row.candidate.matched
    return Evidence(row.similarity, rare.coverage(matched), bool(matched & rare.identifiers))


def is_exempt(found: Evidence) -> bool:
    """Whether words alone vouch for a row: a whole identifier, or every rare term."""
    return found.identifier or found.rare_coverage >= 1.0
