from __future__ import annotations

from loom_server.ingest.files.sections import Style, heading_words, sections


def trails(text: str, style: Style = "markdown") -> list[tuple[str, list[str]]]:
    return [(s.breadcrumb, [b.text for b in s.blocks]) for s in sections(text, "file", style)]


def test_a_trail_follows_the_headings_down_and_up() -> None:
    text = "# Guide\nHello.\n\n## Setup\n\n### Postgres\nInstall it.\n\n## Use\nRun it.\n"
    assert trails(text) == [
        ("Guide", ["Hello."]),
        ("Guide > Setup > Postgres", ["Install it."]),
        ("Guide > Use", ["Run it."]),
    ]


def test_the_title_heads_what_stands_before_a_heading_of_level_one() -> None:
    assert trails("Preface.\n\n## Setup\nDo it.\n\n# Guide\nNow.") == [
        ("file", ["Preface."]),
        ("file > Setup", ["Do it."]),
        ("Guide", ["Now."]),
    ]


def test_a_deeper_heading_may_skip_a_level() -> None:
    assert trails("# A\n\n#### D\nx\n\n## B\ny") == [("A > D", ["x"]), ("A > B", ["y"])]


def test_a_hash_in_a_fence_is_no_heading() -> None:
    text = "# A\n```sh\n# not a heading\n\nls\n```\nafter"
    assert trails(text) == [("A", ["```sh\n# not a heading\n\nls\n```", "after"])]


def test_a_shorter_mark_does_not_close_a_fence() -> None:
    assert trails("````\n```\n# x\n````\ny") == [("file", ["````\n```\n# x\n````", "y"])]


def test_a_fence_that_is_never_closed_runs_to_the_end() -> None:
    assert trails("```\n# x\ny") == [("file", ["```\n# x\ny"])]


def test_code_marks_around_words_open_no_fence() -> None:
    assert trails("```x``` is code\n# A\ny") == [("file", ["```x``` is code"]), ("A", ["y"])]


def test_underlined_headings() -> None:
    assert trails("Guide\n=====\na\n\nSetup\n---\nb") == [("Guide", ["a"]), ("Guide > Setup", ["b"])]


def test_rules_tables_and_lists_underline_nothing() -> None:
    for text in ("a\nb\n---", "| a |\n---", "- a\n---", "\n---\nx"):
        assert [trail for trail, _ in trails(text)] == ["file"]


def test_closing_hashes_and_marks_are_no_words_of_a_heading() -> None:
    assert trails("## Use `loom` ##\nx") == [("file > Use loom", ["x"])]
    assert trails("# C#\nx") == [("C#", ["x"])]
    assert trails("#not a heading") == [("file", ["#not a heading"])]


def test_heading_words_keep_identifiers() -> None:
    assert heading_words("The **bold** [link](http://x.example/a_b) in `pg_hba.conf`") == (
        "The bold link in pg_hba.conf"
    )
    assert heading_words("_emphasis_ of snake_case_name") == "emphasis of snake_case_name"


def test_restructured_levels_come_in_order_of_appearance() -> None:
    text = "=====\nGuide\n=====\n\na\n\nSetup\n-----\n\nb\n\nPostgres\n~~~~~~~~\nc\n\nUse\n---\nd"
    assert trails(text, "restructured") == [
        ("Guide", ["a"]),
        ("Guide > Setup", ["b"]),
        ("Guide > Setup > Postgres", ["c"]),
        ("Guide > Use", ["d"]),
    ]


def test_a_rule_shorter_than_its_title_underlines_nothing() -> None:
    assert trails("A long title\n---\nx", "restructured") == [("file", ["A long title\n---\nx"])]


def test_plain_text_has_no_headings() -> None:
    assert trails("# a\nb\n====\n\nc", "plain") == [("file", ["# a\nb\n====", "c"])]
