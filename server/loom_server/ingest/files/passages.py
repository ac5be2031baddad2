"""Blocks of text into passages of about 200 tokens.

A passage ends where the next block would carry it past `PASSAGE_TOKENS`. A paragraph longer
than that is cut between sentences, then between words. A code fence stays whole up to
`FENCE_TOKENS`; a longer one is cut between lines, and each part is fenced again. A last
passage below `TAIL_TOKENS` joins the one before it: a stub has no meaning of its own.

Tokens are estimated: four ASCII characters, or one of any other script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

PASSAGE_TOKENS = 200
FENCE_TOKENS = 800
TAIL_TOKENS = 40
ASCII_PER_TOKEN = 4

_SENTENCE_END = re.compile("(?<=[.!?]\\s)|(?<=\n)|(?<=[\u3002\uff01\uff1f])")
_WORD_GAP = re.compile(r"(?<=\s)")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph or a code fence, verbatim."""

    text: str
    kind: Literal["paragraph", "fence"] = "paragraph"


def token_estimate(text: str) -> int:
    """About how many tokens an embedder sees."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return len(text) - ascii_count + -(-ascii_count // ASCII_PER_TOKEN)


def passages(blocks: Sequence[Block]) -> list[str]:
    """The blocks of one section as passages, in order."""
    pieces = [piece for block in blocks for piece in _pieces(block)]
    packed = _pack(pieces, PASSAGE_TOKENS, "\n\n")
    if len(packed) > 1 and token_estimate(packed[-1]) < TAIL_TOKENS:
        packed[-2:] = [f"{packed[-2]}\n\n{packed[-1]}"]
    return packed


def _pieces(block: Block) -> Iterator[str]:
    limit = FENCE_TOKENS if block.kind == "fence" else PASSAGE_TOKENS
    if token_estimate(block.text) <= limit:
        yield block.text
    elif block.kind == "fence":
        yield from _fence_parts(block.text)
    else:
        yield from _paragraph_parts(block.text)


def _fence_parts(text: str) -> Iterator[str]:
    opening, *body = text.split("\n")
    mark = opening.strip()
    closing = mark[: len(mark) - len(mark.lstrip("`~"))]
    if body and body[-1].strip() == closing:
        body.pop()
    lines = [part for line in body for part in _within(line, FENCE_TOKENS)]
    for part in _pack(lines, FENCE_TOKENS, "\n"):
        yield f"{opening}\n{part}\n{closing}"


def _paragraph_parts(text: str) -> Iterator[str]:
    parts = [part for sentence in _SENTENCE_END.split(text) for part in _within(sentence, PASSAGE_TOKENS)]
    yield from (packed for part in _pack(parts, PASSAGE_TOKENS, "") if (packed := part.strip()))


def _within(text: str, limit: int) -> list[str]:
    """`text` in parts of at most `limit` tokens, cut between words, or anywhere in a longer word."""
    if token_estimate(text) <= limit:
        return [text]
    words = [word[i : i + limit] for word in _WORD_GAP.split(text) for i in range(0, len(word), limit)]
    return _pack(words, limit, "")


def _pack(parts: Sequence[str], limit: int, joint: str) -> list[str]:
    """Neighbours joined for as long as they stay within `limit` tokens."""
    packed: list[list[str]] = []
    room = 0
    for part in parts:
        cost = token_estimate(part)
        if not packed or cost > room:
            packed.append([])
            room = limit
        packed[-1].append(part)
        room -= cost
    return [joint.join(group) for group in packed]
