"""Lexical leg: how much of the question a row says, in words.

    lexical = Σ idf(matched terms) / Σ idf(all terms)        in [0, 1]

A term is matched by any of its forms: stem, lemma, whole identifier, part of the key. A
row that carries every term scores 1 whatever its length; frequency does not count.
"""

from __future__ import annotations

from loom_server.model.query import Term

NAME = "lexical"

SCORE = (
    "round(arraySum((share, slot) -> if(bitTest(matched, slot), share, 0),"
    " {shares:Array(Float64)}, range({slot_count:UInt64})), 6)"
)
"""One row's score, over the mask of its matched terms."""


def shares(terms: tuple[Term, ...]) -> list[float]:
    """Each term's share of the question's weight; they add up to 1."""
    total = sum(term.idf for term in terms) or 1.0
    return [term.idf / total for term in terms]
