"""A unit: one thing found in a text, with the place where it stands.

    word        a word, or a number, or a piece of a hyphenated word
    identifier  a whole identifier, in its canonical spelling
    nested      an identifier inside an identifier (`c.py` in `a/b/c.py`)
    part        a word or number inside an identifier
    joined      two words written as one (`wifi` in `wi-fi`); it matches and is not counted
    bigram      two neighbours of a script without spaces, or its single character
    character   one Han character of a longer run; it matches and is not counted

Units know nothing of languages: stems, lemmas and stop words come after them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

UnitKind = Literal["word", "identifier", "nested", "part", "joined", "bigram", "character"]


@dataclass(frozen=True, slots=True)
class Unit:
    """`text` is folded; `start` and `end` are offsets in the text that was scanned.

    `joined` is the unit's compound written as one word, where the compound is made of
    letters only: `clickhouse` for `ClickHouse` and for its parts.
    """

    kind: UnitKind
    text: str
    start: int
    end: int
    joined: str = ""

    def moved(self, start: int, end: int) -> Unit:
        """The same unit at another place."""
        return Unit(self.kind, self.text, start, end, self.joined)
