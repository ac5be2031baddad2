"""The shape of a query: does it hold a whole identifier, and is it code or a path.

    code  =  identifier and part slots / all slots but stop words  >= 1/2
             or  words that look like code or a path / all words   >= 1/3

A whole identifier calls for words over meaning: embedders see little in `PROJ-1234`. In a
code- or path-shaped query most words are parts that many rows share (`src`, `app`, `py`),
so the order by words is near to noise and counts less in a fusion by ranks, but for rows
that carry the identifier whole.

Limits: the shape is read from characters alone; a sentence about code that names none
stays prose, and so it should.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from loom_server.model.query import Query

SLOT_SHARE = 1 / 2
WORD_SHARE = 1 / 3

ADAPTIVE_LEXICAL_WEIGHT = 0.5
"""Factor on the lexical order of `rrf` for a code- or path-shaped query, in (0, 1].

At one half and k = 60, the first of the lexical order counts as much as place 62 of the
order by cosine: the words still lift a row among its like, and no longer outvote meaning.
"""

_MARKS = ("()", "[]", "::", "->", "=>", "==", "!=", "&&", "||", "</", "{", "}")
_SEPARATOR = re.compile(r"[/\\]+")
_QUOTES_AND_STOPS = "\"'`.,;:!?"
_ROOTS = ("", ".", "..", "~")


@dataclass(frozen=True, slots=True)
class Shape:
    """`identifiers` are the whole identifiers as asked for, in the query's order."""

    identifiers: tuple[str, ...]
    code: bool


def shape_of(query: Query) -> Shape:
    """The shape of an analysed query."""
    identifiers = tuple(term.text for term in query.terms if term.kind == "identifier")
    return Shape(identifiers, _by_slots(query) or _by_words(query.text.split()))


def _by_slots(query: Query) -> bool:
    kinds = [term.kind for term in query.terms if term.kind != "stop"]
    pieces = sum(kind in ("identifier", "part") for kind in kinds)
    return bool(kinds) and pieces >= SLOT_SHARE * len(kinds)


def _by_words(words: list[str]) -> bool:
    coded = sum(any(mark in word for mark in _MARKS) or _is_path(word) for word in words)
    return bool(words) and coded >= WORD_SHARE * len(words)


def _is_path(word: str) -> bool:
    """`and/or`, `n/a` and `12/05/2024` are none: two parts need a root or a file's ending."""
    parts = _SEPARATOR.split(word.rstrip(_QUOTES_AND_STOPS).lstrip("\"'`("))
    if len(parts) < 2 or not any(character.isalpha() for character in word):
        return False
    return parts[0] in _ROOTS or len(parts) > 2 or "." in parts[-1]
