"""Identifiers, whole and in parts.

    pg_hba.conf   -> pg_hba.conf; pg_hba; pg, hba, conf
    HTTPServer2   -> httpserver2; httpserver, http, server, 2
    src/a/c.py    -> src/a/c.py; c.py; src, py

A run of characters is an identifier if it has a shape of `shapes`, or else a sign: a
letter and a digit, an inner underscore or dot, `@`, `&`, `::`, `++`, a leading slash or
two slashes, mixed case inside a word, or capitals on both sides of a hyphen or slash.
Not so: numbers, ranges and quantities (`3.5`, `10-15`, `5pm`, `24-hour`), abbreviations
(`U.S.A`), plurals of capitals (`APIs`), Mc-names, plain words with hyphens or one slash.

Inside an identifier, each piece that is one by itself is told too (`nested`), down to
words and numbers. One letter alone is no part. A name in mixed case is also told as one
word, so that `clickhouse` finds `ClickHouse`; two words joined by a hyphen or underscore
likewise, uncounted. A name of letters and digits is divided where they meet if each run
of letters has two or more; one that changes too often (base64) is not divided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from unicodedata import category

import regex

from loom_server.analysis import shapes
from loom_server.analysis.folding import caseless
from loom_server.analysis.units import Unit, UnitKind

MAX_IDENTIFIER = 1024
"""Longer runs are words only, in characters."""

_QUANTITY = r"\d+(?:\.\d+)?\p{L}{0,3}"
_ACRONYM = regex.compile(r"\p{L}(?:\.\p{L})+")
_PLAIN = regex.compile(rf"{_QUANTITY}(?:[-/]{_QUANTITY})?|{_QUANTITY}(?:[-/]\p{{L}}+)+|\p{{L}}(?:\.\p{{L}})+")
_SIGN = regex.compile(
    r"""
      ^(?=\P{L}*+\p{L})(?=\D*+\d) | [^_]_+[^_] | ^__ | \w\.\w | [&@#] | :: | \+\+
    | ^[~/.] | [/\\].*[/\\] | ^\p{L}:[/\\]
    | \p{Ll}(?<!(?<!\p{L})Mc)\p{Lu} | \p{Lu}{2}\p{Ll}{2}
    | ^(?=.*\p{Lu}{2})\p{Lu}+(?:[-/]\p{Lu}+)+$
    """,
    regex.VERBOSE | regex.DOTALL,
)
_LEVELS = tuple(regex.compile(pattern) for pattern in (r"[^/\\?=&;,()\[\]{}!$*|%:]+", r"[^@+#~]+", r"[^.]+", r"[^-_]+"))
_ANSWER = regex.compile(r"[^?&=#;]+")
_ATOM = regex.compile(rf"{_QUANTITY}(?![\p{{L}}\p{{N}}])|[\p{{L}}\p{{M}}\p{{N}}']+")
_MEASURE = regex.compile(r"(\d+(?:\.\d+)?)(\p{L}+)")
_HUMPS = regex.compile(
    r"\p{Lu}{2,}s(?!\p{Ll})|[\p{Lu}\p{Lt}]+(?!\p{Ll})|[\p{Lu}\p{Lt}]?[\p{Ll}\p{Lo}\p{Lm}\p{M}']+|\p{N}+|."
)
_CONTENT = regex.compile(r"[\p{L}\p{N}]")
_LETTERS = regex.compile(r"[\p{L}\p{M}']+")


def run(text: str, at: int) -> Iterator[Unit]:
    """The units of a run of letters, digits and joining signs."""
    text, at = _trim(text, at)
    # The length first: the search for signs takes time by the square of it.
    if text.isalpha() and (len(text) > MAX_IDENTIFIER or not _SIGN.search(text)):
        yield Unit("word", caseless(text), at, at + len(text))
    elif text:
        yield from _piece(text, at, "identifier", "word")


def url(text: str, at: int) -> Iterator[Unit]:
    """A URL, its site and path without the query, and what is in them. `http` is left out of the spelling."""
    text = _unclosed(text)
    scheme, _, body = text.partition("://")
    web = scheme.lower() in ("http", "https")
    offset = len(scheme) + 3 if web else 0
    if web and body[:4].lower() == "www.":
        offset += 4
    body = text[offset:]
    if not _CONTENT.search(body):
        return
    yield Unit("identifier", caseless(body), at, at + len(text))
    if len(body) > MAX_IDENTIFIER:
        yield from _words(body, at + offset, "part")
        return
    page, *answers = _ANSWER.finditer(body)
    if "/" in page[0] and answers:
        yield Unit("nested", caseless(page[0]), at + offset + page.start(), at + offset + page.end())
    yield from _split(page[0], at + offset + page.start())
    for answer in answers:
        yield from _inner(answer[0], at + offset + answer.start(), "")


def email(text: str, at: int) -> Iterator[Unit]:
    """An e-mail address, and its domain and words."""
    yield Unit("identifier", caseless(text), at, at + len(text))
    yield from _split(text, at)


def shaped(text: str, at: int) -> Iterator[Unit]:
    """What the scan holds together by colons or spaces, if it has the shape, else words."""
    shape = shapes.shape_of(text)
    if shape is None:
        yield from _words(text, at, "word")
        return
    yield Unit("identifier", caseless(shape.canonical(text)), at, at + len(text))
    yield from shape.inside(text, at)


def time(text: str, at: int) -> Iterator[Unit]:
    """A time of day or a ratio is a word, and so are its numbers."""
    yield Unit("word", shapes.clock(text), at, at + len(text))
    yield from _words(text, at, "part")


def grouped(text: str, at: int) -> Iterator[Unit]:
    """A number with grouped thousands, as if it had none; the later of two signs is the decimal one."""
    whole, _, fraction = text.partition("," if text.rfind(",") > text.rfind(".") > -1 else ".")
    digits = whole.replace(",", "").replace(".", "")
    yield Unit("word", f"{digits}.{fraction}" if fraction else digits, at, at + len(text))


RULES: dict[str, Callable[[str, int], Iterator[Unit]]] = {
    "spanning": shaped,
    "url": url,
    "email": email,
    "colons": shaped,
    "time": time,
    "grouped": grouped,
    "run": run,
}


def _unclosed(text: str) -> str:
    """Without the punctuation at its end: it belongs to the sentence, or is a last slash."""
    end = len(text)
    while end and category(text[end - 1]).startswith("P"):
        end -= 1
    return text[:end]


def _trim(text: str, at: int) -> tuple[str, int]:
    """Cut a possessive and the underscores of emphasis, not those of `__init__`."""
    if text[-2:] in ("'s", "'S"):
        text = text[:-2]
    if "_" not in (text[:1], text[-1:]) or (text.startswith("__") and text.strip("_")):
        return text, at
    bare = text.lstrip("_")
    return bare.rstrip("_"), at + len(text) - len(bare)


def _piece(text: str, at: int, kind: UnitKind, otherwise: UnitKind) -> Iterator[Unit]:
    """An identifier of `kind` with what is in it, or words of the kind `otherwise`."""
    shape = shapes.shape_of(text) if len(text) <= MAX_IDENTIFIER else None
    if shape:
        yield Unit(kind, caseless(shape.canonical(text)), at, at + len(text))
        yield from shape.inside(text, at)
    elif len(text) > MAX_IDENTIFIER or _PLAIN.fullmatch(text) or not _SIGN.search(text):
        yield from _words(text, at, otherwise)
    else:
        spelling = text.removeprefix("./").replace("\\", "/")
        joined = caseless(text) if _LETTERS.fullmatch(text) else ""
        yield Unit(kind, caseless(spelling), at, at + len(text), joined)
        yield from _split(text, at)


def _split(text: str, at: int) -> Iterator[Unit]:
    """What is in an identifier: divided by the first sign, in order of their strength, that divides it."""
    for level in _LEVELS:
        pieces = [(match[0], match.start()) for match in level.finditer(text)]
        if pieces == [(text, 0)]:
            continue
        joined = _joined([piece for piece, _ in pieces]) if level is _LEVELS[-1] else ""
        if joined:
            yield Unit("joined", joined, at, at + len(text))
        for piece, start in pieces:
            yield from _inner(piece, at + start, joined)
        return
    yield from _divide(text, at)


def _inner(text: str, at: int, joined: str) -> Iterator[Unit]:
    text, at = _trim(text, at)
    if joined:
        yield from _words(text, at, "part", joined)
    elif _CONTENT.search(text):
        yield from _piece(text, at, "nested", "part")


def _divide(text: str, at: int) -> Iterator[Unit]:
    """The parts of a name without signs: by its humps, and where letters and digits meet."""
    humps = list(_HUMPS.finditer(text))
    names = list(_LETTERS.finditer(text))
    mixed = not _LETTERS.fullmatch(text)
    opaque = len(humps) >= 4 and len(text) < 2.5 * len(humps)
    if mixed and (opaque or min((len(name[0]) for name in names), default=0) == 1):
        return
    for name in names:
        if opaque or name[0] not in (hump[0] for hump in humps):
            yield Unit("part", caseless(name[0]), at + name.start(), at + name.end(), caseless(name[0]))
    for hump in () if opaque else humps:
        name = next((name[0] for name in names if name.start() <= hump.start() < name.end()), "")
        if len(hump[0]) > 1 or not name:
            yield Unit("part", caseless(hump[0]), at + hump.start(), at + hump.end(), caseless(name))


def _words(text: str, at: int, kind: UnitKind, joined: str = "") -> Iterator[Unit]:
    """The words and numbers of a run that is no identifier."""
    if _ACRONYM.fullmatch(text):
        yield Unit(kind, caseless(text.replace(".", "")), at, at + len(text))
        return
    atoms = list(_ATOM.finditer(text))
    pair = _joined([atom[0] for atom in atoms]) if "-" in text else ""
    if pair:
        yield Unit("joined", pair, at, at + len(text))
    for atom in atoms:
        if kind == "part" and len(atom[0]) == 1 and atom[0].isalpha():
            continue
        yield Unit(kind, caseless(atom[0]), at + atom.start(), at + atom.end(), joined or pair)
        yield from _measure(atom[0], at + atom.start())


def _measure(text: str, at: int) -> Iterator[Unit]:
    """The number and the unit of `5pm`; a unit of one letter is no part."""
    match = _MEASURE.fullmatch(text)
    if match is None:
        return
    yield Unit("part", match[1], at, at + match.end(1))
    if len(match[2]) > 1:
        yield Unit("part", caseless(match[2]), at + match.start(2), at + match.end())


def _joined(pieces: Sequence[str]) -> str:
    """Two plain words as one, else nothing."""
    plain = len(pieces) == 2 and all(piece.isalpha() and not _SIGN.search(piece) for piece in pieces)
    return caseless("".join(pieces)) if plain else ""
