from __future__ import annotations

import os
from pathlib import Path

import pytest

from loom_server.ingest.files.names import STEM_CHARS, printable, session_name, stem
from loom_server.ingest.files.row import Fault, SourceFile
from loom_server.ingest.files.walk import walk


def names(root: Path) -> tuple[list[str], list[str]]:
    found = list(walk(root))
    files = [item.name for item in found if isinstance(item, SourceFile)]
    return files, [str(item) for item in found if isinstance(item, Fault)]


def test_a_folder_is_read_in_name_order_and_its_name_leads(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    (root / "b").mkdir(parents=True)
    for name in ("b/x.MD", "a.txt", "c.rst", "d.jsonl", "e.json"):
        (root / name).write_text("x")
    assert names(root) == (["docs/a.txt", "docs/b/x.MD", "docs/c.rst", "docs/d.jsonl", "docs/e.json"], [])


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "a.md").write_text("x")
    (root / "logo.png").write_bytes(b"x")
    os.mkfifo(root / "pipe.txt")
    (root / "gone.md").symlink_to(root / "nowhere.md")
    files, faults = names(root)
    assert files == []
    assert faults == [
        "docs/.git: hidden",
        "docs/gone.md: cannot be opened: No such file or directory",
        "docs/logo.png: not a kind that is read; known are .md, .markdown, .txt, .rst, .jsonl, .json",
        "docs/pipe.txt: not a regular file",
    ]


def test_a_link_back_is_no_loop(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    (root / "deep").mkdir(parents=True)
    (root / "deep" / "a.md").write_text("x")
    (root / "deep" / "up").symlink_to(root)
    assert names(root) == (["docs/deep/a.md"], ["docs/deep/up: a link to a folder that is read already"])


def test_one_file_goes_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    assert names(tmp_path / "a.md") == (["a.md"], [])


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert names(tmp_path / "no")[1] == [f"{tmp_path}/no: no such file or folder"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    (root / "shut").mkdir(parents=True)
    (root / "shut").chmod(0)
    try:
        assert names(root)[1] == ["docs/shut: the folder cannot be read: Permission denied"]
    finally:
        (root / "shut").chmod(0o700)


def test_long_names_are_cut_and_stay_apart() -> None:
    one, two = "a/" + "x" * 300 + ".md", "b/" + "x" * 300 + ".md"
    assert stem("docs/a.md") == "docs/a.md"
    assert len(stem(one)) == STEM_CHARS
    assert stem(one) != stem(two)
    assert stem(one).endswith("x.md")


def test_names_that_the_wire_does_not_take_are_mended() -> None:
    assert printable(os.fsdecode(b"caf\xe9\n.md")) == "caf??.md"
    assert session_name("a b/ñ(1)") == "a-b/ñ-1-"
