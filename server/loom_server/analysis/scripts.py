"""Scripts without spaces: a run of n characters gives n - 1 overlapping bigrams.

A character is a base with its marks, so that a Thai vowel sign stays with its
consonant. A run of one character is that one character. In longer runs each Han
character is told as well, uncounted: many words of Chinese and Japanese are one
character, and a question of one character has no bigram to match with.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import regex

from loom_server.analysis.units import Unit

# The Katakana length mark belongs to both kana scripts, so no script property has it.
UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\u30fc"

_CHARACTER = regex.compile(r"\P{M}\p{M}{0,30}|\p{M}{1,30}")
_HAN = regex.compile(r"\p{Han}")


def bigrams(run: str, at: int) -> Iterator[Unit]:
    """The units of a run of such a script that starts at offset `at`."""
    spans = [match.span() for match in _CHARACTER.finditer(run)]
    if len(spans) == 1:
        yield Unit("bigram", run, at, at + len(run))
        return
    for (start, _), (_, end) in pairwise(spans):
        yield Unit("bigram", run[start:end], at + start, at + end)
    for start, end in spans:
        if _HAN.match(run, start):
            yield Unit("character", run[start:end], at + start, at + end)
