"""Texts and questions to index tokens, by the same rules.

    a word                 its stem; `l:` and the stem of its lemma; or `s:` and the stop word
    an identifier          `i:` and its canonical spelling, case-folded; then its parts as words
    a script without spaces  bigrams; `l:` and each Han character
    a key                  `k:` and the stems, lemmas and identifiers in it, without stop words

A token is scored if it has no prefix or the prefix `i:`; only scored tokens count in BM25
and in a text's length. A token has at most `MAX_TOKEN` characters and its prefix; of a
longer one the head and a digest are kept. A token is never empty and always encodes.

`ANALYZER_VERSION` changes whenever a text would give other tokens: what is stored must
then be rebuilt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import regex

from loom_server.analysis import tokens
from loom_server.analysis.stems import LANGUAGES, language_code, word
from loom_server.analysis.units import Unit
from loom_server.model.query import MAX_TERMS, Term, TermKind

__all__ = [
    "ANALYZER_VERSION",
    "LANGUAGES",
    "IndexTokens",
    "Match",
    "index_tokens",
    "language_code",
    "matches",
    "query_terms",
    "scored_tokens",
    "warm",
]

ANALYZER_VERSION = 1

MAX_COUNT = 65_535
"""The most that one token counts in one text: the width of the stored column."""

_MEMOISED_CHUNKS = 65_536
_LONGEST_MEMOISED = 48
_UNSCORED = ("l:", "s:", "k:")
_HAN = regex.compile(r"\p{Han}")


@dataclass(frozen=True, slots=True)
class IndexTokens:
    """The index tokens of one row with their counts. `length` is the number of scored ones, repeated."""

    counts: Mapping[str, int]
    length: int


@dataclass(frozen=True, slots=True)
class Match:
    """A place in a text, in characters, that a term matches. `term` is the term's text."""

    term: str
    start: int
    end: int


def index_tokens(text: str, key: str = "", language: str = "en") -> IndexTokens:
    """The index tokens of a text and of the key it is stored under.

    Raises:
        InvalidInput: the language is unknown.
    """
    language = language_code(language)
    counts: dict[str, int] = {}
    length = 0
    for chunk in tokens.plain_chunks(text):
        found, scored = _memoised(chunk, language) if len(chunk) <= _LONGEST_MEMOISED else chunk_tokens(chunk, language)
        length += scored
        for token in found:
            counts[token] = counts.get(token, 0) + 1
    for token in _key_tokens(key, language):
        counts[token] = counts.get(token, 0) + 1
    if len(text) > MAX_COUNT:
        counts = {token: min(count, MAX_COUNT) for token, count in counts.items()}
    return IndexTokens(counts, length)


def query_terms(text: str, language: str = "en") -> tuple[Term, ...]:
    """The slots of a question in order of first occurrence, at most `MAX_TERMS`.

    Where there are more, stop words go first, then the last words; whole identifiers stay
    longest. Rarity is not asked: it is not known yet. The forms of a slot are every index
    token that matches it, its scored one among them. Words with the same stem are one slot.
    A part of a compound of letters is matched by the compound written as one word, and such
    a compound is scored as that word: `ClickHouse` finds `clickhouse`, and the reverse.

    Raises:
        InvalidInput: the language is unknown.
    """
    language = language_code(language)
    terms: dict[str, Term] = {}
    for chunk in tokens.plain_chunks(text):
        for term in _memoised_terms(chunk, language) if len(chunk) <= _LONGEST_MEMOISED else _terms(chunk, language):
            slot = term.scored or term.forms[0]
            known = terms.get(slot)
            terms[slot] = replace(known, forms=_distinct((*known.forms, *term.forms))) if known else term
    return _at_most(tuple(terms.values()), MAX_TERMS)


def matches(text: str, terms: Sequence[Term], language: str = "en") -> tuple[Match, ...]:
    """The places of a text that the terms match, in order; an identifier before its parts.

    Key tokens match no place, and a term that matches within a place does not match it too.

    Raises:
        InvalidInput: the language is unknown.
    """
    language = language_code(language)
    wanted: dict[str, list[str]] = {}
    for term in terms:
        for form in term.forms:
            wanted.setdefault(form, []).append(term.text)
    found = {
        Match(term, unit.start, unit.end): None
        for unit in tokens.units(text)
        for token in _unit_tokens(unit, language)
        for term in wanted.get(token, ())
    }
    return _innermost(sorted(found, key=lambda match: (match.start, -match.end)))


def scored_tokens(tokens: IndexTokens) -> Mapping[str, int]:
    """The tokens that BM25 counts, with their counts."""
    return {token: count for token, count in tokens.counts.items() if _is_scored(token)}


def warm(language: str = "en") -> None:
    """Load a language's stemmer and lemmas, which takes over a second the first time."""
    index_tokens("warmed", language=language)


def _is_scored(token: str) -> bool:
    return not token.startswith(_UNSCORED)


@lru_cache(maxsize=_MEMOISED_CHUNKS)
def _memoised(chunk: str, language: str) -> tuple[tuple[str, ...], int]:
    return chunk_tokens(chunk, language)


def chunk_tokens(chunk: str, language: str) -> tuple[tuple[str, ...], int]:
    """The index tokens of a chunk, and how many are scored."""
    found = tuple(token for unit in tokens.chunk_units(chunk) for token in _unit_tokens(unit, language))
    return found, sum(map(_is_scored, found))


def _unit_tokens(unit: Unit, language: str) -> tuple[str, ...]:
    match unit.kind:
        case "identifier" | "nested":
            return (f"i:{unit.text}",)
        case "bigram":
            return (unit.text,)
        case "character":
            return (f"l:{unit.text}",)
        case "joined":
            return (f"l:{word(unit.text, language).stem}",)
        case "word" | "part":
            found = word(unit.text, language)
            if found.stop:
                return (f"s:{found.stem}",)
            return (found.stem, f"l:{found.lemma}") if found.lemma else (found.stem,)


def _key_tokens(key: str, language: str) -> Iterator[str]:
    """The tokens of a key: one prefix for whatever kind, and no stop words."""
    for unit in tokens.units(key) if key else ():
        for token in _unit_tokens(unit, language):
            if not token.startswith("s:"):
                yield f"k:{token[2:] if token[1:2] == ':' else token}"


@lru_cache(maxsize=_MEMOISED_CHUNKS // 8)
def _memoised_terms(chunk: str, language: str) -> tuple[Term, ...]:
    return _terms(chunk, language)


def _terms(chunk: str, language: str) -> tuple[Term, ...]:
    terms = (_term(unit, language) for unit in tokens.chunk_units(chunk))
    return tuple(term for term in terms if term)


def _term(unit: Unit, language: str) -> Term | None:
    text = unit.text
    match unit.kind:
        case "identifier" | "nested":
            return _identifier_term(unit, language)
        case "bigram":
            single = (f"l:{text}",) if len(text) == 1 and _HAN.match(text) else ()
            return Term(text, "bigram", (text, *single, f"k:{text}"), text)
        case "joined" | "character":
            return None
        case "word" | "part":
            found = word(text, language)
            if found.stop:
                return Term(text, "stop", (f"s:{found.stem}",), None)
            own = (found.stem, f"l:{found.stem}")
            lemma = (found.lemma, f"l:{found.lemma}") if found.lemma else ()
            keys = (f"k:{stem}" for stem in (found.stem, found.lemma) if stem)
            return Term(text, unit.kind, _distinct((*own, *lemma, *keys, *_joined_forms(unit, language))), found.stem)


def _identifier_term(unit: Unit, language: str) -> Term:
    """The slot of an identifier. One of letters only is scored as the word it makes."""
    kind: TermKind = "identifier" if unit.kind == "identifier" else "part"
    joined = _joined_forms(unit, language)
    whole = f"i:{unit.text}"
    forms = _distinct((whole, f"k:{unit.text}", *joined))
    return Term(unit.text, kind, forms, joined[0] if joined else whole)


def _joined_forms(unit: Unit, language: str) -> tuple[str, ...]:
    found = word(unit.joined, language) if unit.joined else None
    return (found.stem, f"l:{found.stem}") if found and not found.stop else ()


def _innermost(ordered: Sequence[Match]) -> tuple[Match, ...]:
    """Without the places of a term that hold the next place of the same term."""
    following: dict[str, Match] = {}
    kept: list[Match] = []
    for match in reversed(ordered):
        inner = following.get(match.term)
        if inner is None or inner.end > match.end:
            kept.append(match)
            following[match.term] = match
    return tuple(reversed(kept))


def _distinct(forms: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(forms))


def _at_most(terms: tuple[Term, ...], limit: int) -> tuple[Term, ...]:
    """The first `limit` by kind, in the order in which they came."""
    if len(terms) <= limit:
        return terms
    rank = {"identifier": 0, "stop": 2}
    best = sorted(range(len(terms)), key=lambda i: (rank.get(terms[i].kind, 1), i))[:limit]
    return tuple(terms[i] for i in sorted(best))
