"""Cutting a document loses nothing and keeps its bounds, whatever the document."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loom_server.ingest.files.passages import (
    FENCE_TOKENS,
    PASSAGE_TOKENS,
    TAIL_TOKENS,
    Block,
    passages,
    token_estimate,
)
from loom_server.ingest.files.sections import Style, sections

PARAGRAPHS = st.lists(
    st.text(st.sampled_from("ab .!?\n|語。é"), min_size=1, max_size=3000).filter(lambda text: text.strip() != ""),
    min_size=1,
    max_size=6,
)
LINES = st.lists(
    st.sampled_from(["# A", "## B", "#### D", "text", "more text", "", "```", "~~~~", "===", "---", "    code", "- x"]),
    max_size=40,
)


def letters(texts: list[str]) -> str:
    return "".join("".join(texts).split())


@given(PARAGRAPHS)
def test_every_letter_of_the_paragraphs_stands_in_the_passages(texts: list[str]) -> None:
    cut = passages([Block(text) for text in texts])
    assert letters(cut) == letters(texts)
    assert all(passage.strip() for passage in cut)


@given(PARAGRAPHS)
def test_a_passage_stays_within_its_bound(texts: list[str]) -> None:
    cut = passages([Block(text) for text in texts])
    assert all(token_estimate(passage) <= PASSAGE_TOKENS + 1 for passage in cut[:-1])
    assert all(token_estimate(passage) <= PASSAGE_TOKENS + TAIL_TOKENS + 1 for passage in cut)


@given(st.lists(st.text(st.sampled_from("xy z"), max_size=400), max_size=60))
def test_every_line_of_a_fence_stands_in_a_fence(lines: list[str]) -> None:
    cut = passages([Block("\n".join(["```py", *lines, "```"]), "fence")])
    assert all(part.startswith("```py") and part.endswith("```") for part in cut)
    assert letters([part.removeprefix("```py").removesuffix("```") for part in cut]) == letters(lines)
    assert all(token_estimate(part) <= FENCE_TOKENS + 5 for part in cut)


@given(LINES)
def test_a_text_file_keeps_every_line(lines: list[str]) -> None:
    kept = [block.text for section in sections("\n".join(lines), "title", "plain") for block in section.blocks]
    assert letters(kept) == letters(lines)


@given(LINES, st.sampled_from(["markdown", "restructured"]))
def test_every_section_has_a_trail_and_text(lines: list[str], style: Style) -> None:
    for section in sections("\n".join(lines), "title", style):
        assert all(section.trail)
        assert letters([block.text for block in section.blocks])


@given(st.text(max_size=500))
def test_no_text_breaks_the_readers(text: str) -> None:
    for style in ("markdown", "restructured", "plain"):
        for section in sections(text, "title", style):
            assert passages(section.blocks)
