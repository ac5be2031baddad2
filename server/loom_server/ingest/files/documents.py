"""Markdown and text files into passages, one row each.

    key     docs/guide.md#guide/setup/postgres/1     file, slug of the trail, ordinal under that trail
    value   Guide > Setup > Postgres\\n\\nthe text

The ordinal counts within one trail, so that a change in one section leaves the keys of all
others alone. A trail that returns later in the file goes on counting.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from loom_server.ingest.files.decode import read_text
from loom_server.ingest.files.front_matter import Document, split_front_matter
from loom_server.ingest.files.moments import moment
from loom_server.ingest.files.passages import passages
from loom_server.ingest.files.row import Bounds, Fault, Row, SourceFile
from loom_server.ingest.files.sections import Section, Style, sections

SLUG_CHARS = 48
TRAIL_DEPTH = 6
_NOT_SLUG = re.compile(r"[\W_]+")


def read_document(file: SourceFile, bounds: Bounds) -> Iterator[Row | Fault]:
    """The file's passages. A heading without text below it makes none."""
    text = read_text(file, bounds)
    if isinstance(text, Fault):
        yield text
        return
    document = split_front_matter(text)
    title = document.string("title") or PurePosixPath(file.name).stem
    shared = _shared(file, document)
    ordinals: Counter[str] = Counter()
    for section in sections(document.text, title, style_of(file)):
        stem = f"{file.key_prefix}{'/'.join(slug(part) for part in section.trail[:TRAIL_DEPTH])}"
        for text in passages(section.blocks):
            ordinals[stem] += 1
            key = f"{stem}/{ordinals[stem]}"
            yield Row(file.name, "", _fields(key, section, text, shared), file.size)
    if not ordinals:
        yield Fault(file.name, "", "headings only, no text below them", "skipped")


def style_of(file: SourceFile) -> Style:
    """How headings are written in this file."""
    if file.kind == "markdown":
        return "markdown"
    return "restructured" if file.name.lower().endswith(".rst") else "plain"


def slug(text: str) -> str:
    """A heading as a part of a key: lower case, words joined by `-`, never empty."""
    return _NOT_SLUG.sub("-", text.casefold()).strip("-")[:SLUG_CHARS].rstrip("-") or "section"


def _fields(key: str, section: Section, text: str, shared: Mapping[str, object]) -> dict[str, object]:
    return {"memory_key": key, "value": f"{section.breadcrumb}\n\n{text}", **shared}


def _shared(file: SourceFile, document: Document) -> Mapping[str, object]:
    """What all passages of the file have in common. A date that is none stays in the metadata."""
    valid_at = moment(document.string("date"))
    taken = ("tags", "date") if valid_at else ("tags",)
    own = {name: value for name, value in document.fields.items() if name not in taken and value}
    shared: dict[str, object] = {
        "memory_type": "semantic",
        "source_class": "imported",
        "source_resource_id": file.resource,
        "metadata": own,
    }
    if document.strings("tags"):
        shared["tags"] = document.strings("tags")
    if valid_at:
        shared["valid_at"] = valid_at
    return shared
