"""A migration's text to its statements: split on `;`, but not inside quotes or comments.

Known to the splitter: 'text' "name" `name` with doubled or back-slashed closers, `-- to the end of
the line` and `/* blocks */`. Comments are left out of the statements; a piece without SQL is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""
      (?P<quoted>'(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" | `(?:[^`\\]|\\.|``)*`)
    | (?P<comment>--[^\n]* | /\*.*?\*/)
    | (?P<end>;)
    | (?P<open>['"`] | /\*)
    | (?P<plain>.)
    """,
    re.VERBOSE | re.DOTALL,
)


def split(text: str) -> tuple[str, ...]:
    """The statements of `text`, in order. Raises ValueError for a quote or comment left open."""
    return tuple(statement for piece in _pieces(text) if (statement := piece.strip()))


def _pieces(text: str) -> Iterator[str]:
    piece: list[str] = []
    for token in _TOKEN.finditer(text):
        match token.lastgroup:
            case "comment":
                piece.append(" ")
            case "end":
                yield "".join(piece)
                piece.clear()
            case "open":
                line = text.count("\n", 0, token.start()) + 1
                raise ValueError(f"line {line}: {token.group()} is never closed")
            case _:
                piece.append(token.group())
    yield "".join(piece)
