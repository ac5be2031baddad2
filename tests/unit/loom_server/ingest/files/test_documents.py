from __future__ import annotations

from pathlib import Path

from loom_server.ingest.files.read import read
from loom_server.ingest.files.row import Bounds, Fault, FileKind, Row, SourceFile

GUIDE = """\
---
title: Guide
tags: [postgres, setup]
date: 2026-02-18
owner: "Ines"
reviewers:
  - Noor
  - Yuki
---
# Guide

Read me first.

## Setup

### Postgres

Edit `pg_hba.conf`.

## Setup

Again.
"""


def source(path: Path, kind: FileKind = "markdown") -> SourceFile:
    return SourceFile(path, f"docs/{path.name}", kind, path.stat().st_size)


def rows(path: Path, kind: FileKind = "markdown") -> list[Row | Fault]:
    return list(read(source(path, kind)))


def test_a_document_becomes_passages_with_their_trail(tmp_path: Path) -> None:
    path = tmp_path / "guide.md"
    path.write_text(GUIDE)
    found = rows(path)
    assert [row.fields["memory_key"] for row in found if isinstance(row, Row)] == [
        "docs/guide.md#guide/1",
        "docs/guide.md#guide/setup/postgres/1",
        "docs/guide.md#guide/setup/1",
    ]
    assert isinstance(found[1], Row)
    assert found[1].fields == {
        "memory_key": "docs/guide.md#guide/setup/postgres/1",
        "value": "Guide > Setup > Postgres\n\nEdit `pg_hba.conf`.",
        "memory_type": "semantic",
        "source_class": "imported",
        "source_resource_id": "docs/guide.md",
        "metadata": {"title": "Guide", "owner": "Ines", "reviewers": ["Noor", "Yuki"]},
        "tags": ["postgres", "setup"],
        "valid_at": "2026-02-18T00:00:00Z",
    }


def test_keys_of_other_sections_outlive_a_change(tmp_path: Path) -> None:
    path = tmp_path / "guide.md"
    path.write_text("# A\nx\n\n# B\ny\n")
    before = [row.fields["memory_key"] for row in rows(path) if isinstance(row, Row)]
    path.write_text("# A\n" + "x. " * 900 + "\n\n# B\ny\n")
    after = [row.fields["memory_key"] for row in rows(path) if isinstance(row, Row)]
    assert before == ["docs/guide.md#a/1", "docs/guide.md#b/1"]
    assert len(after) > 3
    assert set(before) <= set(after)


def test_a_trail_that_returns_counts_on(tmp_path: Path) -> None:
    path = tmp_path / "log.md"
    path.write_text("# Day\nx\n\n# day!\ny\n")
    assert [row.fields["memory_key"] for row in rows(path) if isinstance(row, Row)] == [
        "docs/log.md#day/1",
        "docs/log.md#day/2",
    ]


def test_a_text_file_is_headed_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes("\ufeffOne.\r\n\r\nTwo.\r\n".encode())
    (row,) = rows(path, "text")
    assert isinstance(row, Row)
    assert row.fields["value"] == "notes\n\nOne.\n\nTwo."


def test_front_matter_that_is_not_understood_stays_in_the_text(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("---\nnested:\n  deep: 1\n---\n\n# A\nx\n")
    found = rows(path)
    assert isinstance(found[0], Row)
    assert "deep: 1" in str(found[0].fields["value"])


def test_a_date_that_is_none_stays_in_the_metadata(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("---\ndate: soon\n---\nx\n")
    (row,) = rows(path)
    assert isinstance(row, Row)
    assert row.fields["metadata"] == {"date": "soon"}
    assert "valid_at" not in row.fields


def fault(path: Path, data: bytes, bounds: Bounds | None = None) -> Fault:
    path.write_bytes(data)
    (found,) = read(source(path), bounds)
    assert isinstance(found, Fault)
    return found


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    assert str(fault(path, b"ok\ncaf\xe9\n")) == "docs/a.md:2: not UTF-8 (byte 0xe9); save the file as UTF-8"
    assert str(fault(path, b"\x7fELF\0\0")) == "docs/a.md: binary, not text"
    assert str(fault(path, b"x" * 101, Bounds(file_bytes=100))) == (
        "docs/a.md: 101 bytes; at most 100 are read, so split the file"
    )


def test_files_without_text_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    assert (fault(path, b" \n\n").reason, fault(path, b"").severity) == ("empty", "skipped")
    assert fault(path, b"# Title\n\n## More\n").reason == "headings only, no text below them"


def test_utf_16_with_its_mark_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes("# Å\nx".encode("utf-16"))
    (row,) = rows(path)
    assert isinstance(row, Row)
    assert row.fields["value"] == "Å\n\nx"
