"""One spelling for one word: compatibility forms, case, signs and length.

    fold(text)     NFKC, ASCII digits, one apostrophe and one hyphen, no invisible
                   characters; case is kept, since it tells where identifiers divide
    caseless(text) case-folded, at most `MAX_TOKEN` characters

Folding goes character by character (a base with its marks, a Hangul syllable with its
letters), so that each folded character knows the place it came from. Runs of marks are
cut at 30, as Unicode's stream-safe form does: to order a longer one takes quadratic time.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from unicodedata import decimal, is_normalized, normalize

import regex

MAX_TOKEN = 128
_HEAD = 96

_CLUSTER = regex.compile(
    r"[\u1100-\u115f][\u1160-\u11a7]?[\u11a8-\u11ff]?|\P{M}\p{M}{0,30}|\p{M}{1,30}",
    regex.DOTALL,
)
# A zero-width space parts words in Khmer and Thai; the other invisible characters part nothing.
_INVISIBLE = regex.compile(r"[[\p{Cf}\p{Default_Ignorable_Code_Point}]--\u200b]", regex.VERSION1)
_UNEVEN = regex.compile(r"[[\p{Cf}\p{Default_Ignorable_Code_Point}]--\u200b]|\p{M}{31}", regex.VERSION1)
_DIGIT = regex.compile(r"[\p{Nd}--0-9]", regex.VERSION1)
_SIGNS = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2018": "'", "\u2010": "-", "\u200b": " "})


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text. `starts` are the offsets of its clusters, `places` their places in the original.

    Without `starts` every character stands where it stood.
    """

    text: str
    starts: tuple[int, ...] = ()
    places: tuple[tuple[int, int], ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the original text of a place in the folded one, in whole clusters."""
        if not self.starts:
            return start, end
        first = bisect_right(self.starts, start) - 1
        last = bisect_right(self.starts, end - 1) - 1
        return self.places[first][0], self.places[last][1]


def fold(text: str) -> Folded:
    """Fold a text, keeping case and places."""
    if text.isascii():
        return Folded(text)
    if not _UNEVEN.search(text) and is_normalized("NFKC", text):
        return Folded(_even(text))
    pairs = [(_cluster(match[0]), match.span()) for match in _CLUSTER.finditer(text)]
    pairs = [pair for pair in pairs if pair[0]]
    starts = accumulate((len(piece) for piece, _ in pairs[:-1]), initial=0)
    return Folded("".join(piece for piece, _ in pairs), tuple(starts), tuple(place for _, place in pairs))


def caseless(text: str) -> str:
    """The text without case; of a longer one the head and a digest of the whole.

    Two long texts share a token only if they are equal but for case.
    """
    folded = text.casefold()
    if len(folded) <= MAX_TOKEN:
        return folded if folded.isascii() else normalize("NFKC", folded)[:MAX_TOKEN]
    digest = blake2b(folded.encode("utf-8", "surrogatepass"), digest_size=15).hexdigest()
    return f"{folded[:_HEAD]}~{digest}"


@lru_cache(maxsize=8192)
def _cluster(text: str) -> str:
    return _even(normalize("NFKC", _INVISIBLE.sub("", text)))


def _even(text: str) -> str:
    """Replace characters one by one, so that places stay. Digits newer than this Python stay as they are."""
    return _DIGIT.sub(lambda match: str(decimal(match[0], match[0])), text.translate(_SIGNS))
