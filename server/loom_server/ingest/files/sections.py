"""A document as sections: a trail of headings, and the blocks below it.

Markdown headings are ATX (`## Setup`) and underlined ones (`Setup` over `===` or `---`). In
`.rst` a line over any rule of one punctuation mark is one, the levels in order of appearance. A
`.txt` file has none. A `#` inside a code fence is no heading. A trail starts with the first
heading of level one, or with the document's title where there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from loom_server.ingest.files.passages import Block

Style = Literal["markdown", "restructured", "plain"]

TITLE_LEVEL = 1
HEADING_CHARS = 300

_ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_MARKS = re.compile(r"[`*]+|(?<!\w)_+|_+(?!\w)")
_NO_TITLE = ("    ", "\t", "|", "- ", "* ", ">")


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading. `trail` is never empty."""

    trail: tuple[str, ...]
    blocks: tuple[Block, ...]

    @property
    def breadcrumb(self) -> str:
        """The trail as it is stored: `Guide > Setup > Postgres`."""
        return " > ".join(self.trail)


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    text: str


def sections(text: str, title: str, style: Style) -> Iterator[Section]:
    """Sections with at least one block, in order. `title` heads what has no heading of level one."""
    trail: list[_Heading] = []
    blocks: list[Block] = []
    for item in _items(text, style):
        if isinstance(item, Block):
            blocks.append(item)
            continue
        if blocks:
            yield Section(_trail(trail, title), tuple(blocks))
            blocks = []
        trail = [*(heading for heading in trail if heading.level < item.level), item]
    if blocks:
        yield Section(_trail(trail, title), tuple(blocks))


def heading_words(text: str) -> str:
    """A heading's words, without links, emphasis and code marks."""
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", text[:HEADING_CHARS])).split())


def _trail(headings: Sequence[_Heading], title: str) -> tuple[str, ...]:
    texts = tuple(heading.text for heading in headings if heading.text)
    if texts and headings[0].level == TITLE_LEVEL:
        return texts
    return (title, *texts)


def _items(text: str, style: Style) -> Iterator[Block | _Heading]:
    scanner = _Scanner(style)
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        fence = _FENCE.match(lines[number]) if style == "markdown" else None
        if fence:
            yield from scanner.close()
            end = _fence_end(lines, number, fence.group(1))
            yield Block("\n".join(lines[number:end]), "fence")
            number = end
        else:
            yield from scanner.line(lines[number])
            number += 1
    yield from scanner.close()


def _fence_end(lines: Sequence[str], start: int, mark: str) -> int:
    """The line after the closing mark; a fence that is never closed runs to the end."""
    for number in range(start + 1, len(lines)):
        stripped = lines[number].strip()
        if len(stripped) >= len(mark) and set(stripped) == {mark[0]}:
            return number + 1
    return len(lines)


@dataclass(slots=True)
class _Scanner:
    """Gathers lines into paragraphs; a heading or a blank line ends the open one."""

    style: Style
    open: list[str] = field(default_factory=list[str])
    levels: dict[str, int] = field(default_factory=dict[str, int])

    def close(self) -> Iterator[Block]:
        lines, self.open = self.open, []
        if lines:
            yield Block("\n".join(line.rstrip() for line in lines))

    def line(self, line: str) -> Iterator[Block | _Heading]:
        heading = self._heading(line)
        if heading:
            yield from self.close()
            yield heading
        elif line.strip():
            self.open.append(line)
        else:
            yield from self.close()

    def _heading(self, line: str) -> _Heading | None:
        if self.style == "markdown":
            return _atx(line) or self._setext(line)
        return self._ruled(line) if self.style == "restructured" else None

    def _setext(self, line: str) -> _Heading | None:
        rule = _SETEXT.match(line)
        if not rule or len(self.open) != 1 or self.open[0].startswith(_NO_TITLE):
            return None
        return _Heading(1 if "=" in line else 2, heading_words(self.open.pop()))

    def _ruled(self, line: str) -> _Heading | None:
        """A title over `line`, and where it has one the equal rule above it."""
        if not self.open or not _RULE.match(line):
            return None
        *above, title = self.open
        overlined = len(above) == 1 and above[0].rstrip() == line.rstrip()
        if (above and not overlined) or title[0].isspace() or _RULE.match(title) or len(line) < len(title.rstrip()):
            return None
        self.open = []
        style = line[0] * (2 if overlined else 1)
        return _Heading(self.levels.setdefault(style, len(self.levels) + 1), heading_words(title))


def _atx(line: str) -> _Heading | None:
    found = _ATX.match(line)
    if not found:
        return None
    text = line[found.end() :].strip()
    core = text.rstrip("#")
    text = core if not core or core[-1].isspace() else text
    return _Heading(len(found.group(1)), heading_words(text))
