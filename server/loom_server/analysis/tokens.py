"""Segmentation: a text to its units, in order of place.

A text is cut at white space, then each chunk is folded and scanned once for, in this
order: identifiers that other rules would break (spaced IBANs and phone numbers, URLs,
e-mail addresses, what is held together by colons), numbers with grouped thousands, runs
of scripts without spaces, and runs of letters, digits and joining signs, of which
`identifiers` says whether they are an identifier or words.

    Ana's -> ana's      1,234.50 -> 1234.50      10:30 -> 10h30, 10, 30

A comma that does not group thousands parts two numbers. Signs, emoji, lone surrogates and
control characters are in no unit. The scan is linear: whatever may run on is possessive
or bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import regex

from loom_server.analysis import identifiers, shapes
from loom_server.analysis.folding import fold
from loom_server.analysis.scripts import UNSPACED, bigrams
from loom_server.analysis.units import Unit

# What a spaced identifier needs somewhere; most texts have none, and are spared the search.
_SPANNING_HINT = re.compile(r"[A-Za-z]{2}\d{2} |\+\d|\(\d{3}\) ?\d")
_SPANNING = re.compile(shapes.SPANNING)
_CHUNK = re.compile(r"\S+")

# Most chunks are a word, and perhaps a sign after it: these are spared the scan.
_CLOSING = ".,;:!?)"

_LETTER = rf"[[\p{{L}}\p{{M}}\p{{N}}_]--[{UNSPACED}]]"
# Boundaries are ASCII where what they bound is: a script without spaces may stand beside it.
_SCAN = regex.compile(
    rf"""
      (?P<spanning> {shapes.SPANNING} )
    | (?P<url> (?<![A-Za-z0-9_.+-]) [A-Za-z][A-Za-z0-9+.-]{{1,15}}://[^\s\p{{C}}<>"'`{UNSPACED}]++ )
    | (?P<email> (?<!{_LETTER}|[.+-]) (?:{_LETTER}|[.+-]){{1,64}}@
          (?:[A-Za-z0-9-]{{1,63}}\.)+[A-Za-z0-9-]{{2,63}} )
    | (?P<colons> (?<![A-Za-z0-9_:.]) (?: {shapes.MAC} | {shapes.MOMENT} | {shapes.IPV6} ) (?![A-Za-z0-9_:]|\.\d) )
    | (?P<time> (?<![A-Za-z0-9_:.,]) \d{{1,2}}:\d{{2}}(?::\d{{2}})? (?![\d:]) )
    | (?P<grouped> (?<![A-Za-z0-9_.,]) \d{{1,3}}
          (?: (?:,\d{{3}}){{1,9}}(?:\.\d{{1,20}})? | (?:\.\d{{3}}){{1,9}},\d{{1,20}} ) (?!\d|[.,]\d) )
    | (?P<unspaced> [[{UNSPACED}]&&[\p{{L}}\p{{M}}\p{{N}}]]++ )
    | (?P<run>
        (?: (?<![\w./~]) (?:~/|/|(?:\.{{1,2}}/)++) \.? | (?<![A-Za-z0-9_])[A-Za-z]:[\\/] | (?<![\w.])\.(?=\p{{L}})
          | (?<![\w#])\#(?=\d) | (?<!\w)@ )?
        {_LETTER}++ (?: (?: [.&@-] | [/\\]\.? | :: | (?<=\p{{L}})'(?=\p{{L}}) ) {_LETTER}++ )*+
        (?: \+\+\d*+ | (?<=(?<!\w)\p{{L}})\#(?!\w) )? )
    """,
    regex.VERSION1 | regex.VERBOSE,
)


def chunks(text: str) -> Iterator[tuple[int, str]]:
    """The chunks of a text with their offsets: no white space inside, but in spaced identifiers."""
    at = 0
    for match in _SPANNING.finditer(text) if _SPANNING_HINT.search(text) else ():
        if length := shapes.spanning_length(match[0]):
            start = match.start()
            yield from ((chunk.start(), chunk[0]) for chunk in _CHUNK.finditer(text, at, start))
            yield start, match[0][:length]
            at = start + length
    yield from ((chunk.start(), chunk[0]) for chunk in _CHUNK.finditer(text, at))


def plain_chunks(text: str) -> list[str]:
    """The chunks without their offsets, by the shorter way where there is one."""
    if _SPANNING_HINT.search(text):
        return [chunk for _, chunk in chunks(text)]
    return text.split()


def units(text: str) -> Iterator[Unit]:
    """The units of a whole text, their offsets in it."""
    for at, chunk in chunks(text):
        for unit in chunk_units(chunk):
            yield unit.moved(unit.start + at, unit.end + at)


def chunk_units(chunk: str) -> Iterator[Unit]:
    """The units of one chunk, their offsets in it."""
    plain = chunk.rstrip(_CLOSING)
    if plain.isascii() and plain.isalpha() and (plain.islower() or plain.istitle() or plain.isupper()):
        yield Unit("word", identifiers.caseless(plain), 0, len(plain))
        return
    folded = fold(chunk)
    if folded.starts:
        yield from (unit.moved(*folded.span(unit.start, unit.end)) for unit in _scan(folded.text))
    else:
        yield from _scan(folded.text)


def _scan(text: str) -> Iterator[Unit]:
    for match in _SCAN.finditer(text):
        group = match.lastgroup or "run"
        if group == "unspaced":
            yield from bigrams(match[0], match.start())
        else:
            yield from identifiers.RULES[group](match[0], match.start())
