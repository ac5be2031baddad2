"""Splitting a migration: what ends a statement, and what only looks like it."""

from __future__ import annotations

import pytest

from loom_schema.statements import split


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("", ()),
        (" ;; \n ; ", ()),
        ("SELECT 1", ("SELECT 1",)),
        ("SELECT 1; SELECT 2;\n", ("SELECT 1", "SELECT 2")),
        ("SELECT ';'; SELECT 2", ("SELECT ';'", "SELECT 2")),
        ("SELECT 'it''s; here'; SELECT 2", ("SELECT 'it''s; here'", "SELECT 2")),
        (r"SELECT 'a\'; b'; SELECT 2", (r"SELECT 'a\'; b'", "SELECT 2")),
        (r"SELECT 'a\\'; SELECT 2", (r"SELECT 'a\\'", "SELECT 2")),
        ('SELECT "a;b"; SELECT `c;d`', ('SELECT "a;b"', "SELECT `c;d`")),
        ("SELECT 1 -- not; here\n; SELECT 2", ("SELECT 1", "SELECT 2")),
        ("-- don't\nSELECT 1; -- the end", ("SELECT 1",)),
        ("SELECT 1 /* it's; 'one */ + 1; SELECT 2", ("SELECT 1   + 1", "SELECT 2")),
        ("SELECT '--', '/*'; SELECT 2", ("SELECT '--', '/*'", "SELECT 2")),
        ("SELECT 4 / 2 - 1; SELECT 5 - -1", ("SELECT 4 / 2 - 1", "SELECT 5 - -1")),
        ("SELECT 'two\nlines;'", ("SELECT 'two\nlines;'",)),
    ],
)
def test_statements_end_where_the_engine_ends_them(text: str, statements: tuple[str, ...]) -> None:
    assert split(text) == statements


@pytest.mark.parametrize("text", ["SELECT 'a", 'SELECT "a', "SELECT `a", "SELECT /* a", r"SELECT 'a\'"])
def test_what_is_never_closed_is_named_with_its_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"line 3: .+ is never closed"):
        split("SELECT 1;\n\n" + text)
