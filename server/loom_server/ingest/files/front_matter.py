"""The front matter of a document: `key: value` lines between two lines of `---`.

    title: Restoring a backup        a string
    tags: [postgres, backup]         a list, in brackets or as `- item` lines below the key
    date: 2026-02-18                 a string; the reader makes a moment of it

The subset of YAML that documents carry. A block that holds anything else (nested maps, a missing
end) is left in the text as it stands, so that nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

FENCE = "---"
_PAIR = re.compile(r"([A-Za-z_][\w.-]*):(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")

Value = str | list[str]


@dataclass(frozen=True, slots=True)
class Document:
    """A document's front matter, and its text below that."""

    text: str
    fields: Mapping[str, Value] = field(default_factory=dict[str, Value])

    def string(self, name: str) -> str:
        """The field as text; `""` where it is absent or a list."""
        value = self.fields.get(name, "")
        return value if isinstance(value, str) else ""

    def strings(self, name: str) -> list[str]:
        """The field as a list; a single text is split at commas."""
        value = self.fields.get(name, [])
        parts = value.split(",") if isinstance(value, str) else value
        return [part.strip() for part in parts if part.strip()]


def split_front_matter(text: str) -> Document:
    """The document in two. Without front matter the text comes back whole."""
    lines = text.split("\n")
    if lines[0].rstrip() != FENCE:
        return Document(text)
    end = next((n for n in range(1, len(lines)) if lines[n].rstrip() == FENCE), 0)
    fields = _fields(lines[1:end]) if end else None
    if fields is None:
        return Document(text)
    return Document("\n".join(lines[end + 1 :]), fields)


def _fields(lines: Sequence[str]) -> dict[str, Value] | None:
    """The fields, or None where a line is neither a pair, an item, a comment nor blank."""
    fields: dict[str, Value] = {}
    name = ""
    for line in lines:
        pair, item = _PAIR.match(line), _ITEM.match(line)
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if pair:
            name = pair.group(1)
            fields[name] = _value(pair.group(2) or "")
        elif item and name and not isinstance(fields[name], str):
            fields[name] = [*fields[name], _bare(item.group(1))]
        elif item and name and fields[name] == "":
            fields[name] = [_bare(item.group(1))]
        else:
            return None
    return fields


def _value(text: str) -> Value:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return [_bare(part) for part in text[1:-1].split(",") if part.strip()]
    return _bare(text)


def _bare(text: str) -> str:
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text
