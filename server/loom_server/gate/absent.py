"""Identifiers that the namespace has never seen, and that the first row is not about.

A whole identifier with a digit in it (`PROJ-4711`, `atlas-3`, `v1.9.2`) names one thing, and
its neighbour in every vector space, `PROJ-4712`, is another. Where no row of the namespace
carries the identifier, and the first row lacks one of its numbers too, whatever the row says
is said of something else.

Limits: an identifier without a digit is left to the other evidence, since people write
`/etc/hosts` as "the hosts file". A date is not an identifier here: a row may be of that day
and not say so.
"""

from __future__ import annotations

import re

from loom_server.model.query import Query, Term

_DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?")


def absent_identifiers(query: Query, matched: int) -> tuple[str, ...]:
    """The identifiers of the question that this verdict is closed by; `matched` is the first row's mask.

    Empty where the row carries any whole identifier of the question.
    """
    if matched & query.identifiers:
        return ()
    return tuple(
        term.text
        for term in query.terms
        if _names_one_thing(term) and term.document_frequency == 0 and _lacks_a_number(query, term, matched)
    )


def _names_one_thing(term: Term) -> bool:
    has_digit = any(map(str.isdigit, term.text))
    return term.kind == "identifier" and has_digit and not _DATE.fullmatch(term.text)


def _lacks_a_number(query: Query, identifier: Term, matched: int) -> bool:
    return any(
        other.kind == "part" and other.text.isdigit() and other.text in identifier.text and not matched >> slot & 1
        for slot, other in enumerate(query.terms)
    )
