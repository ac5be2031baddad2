from __future__ import annotations

import pytest

from loom_server.ingest.files.passages import FENCE_TOKENS, PASSAGE_TOKENS, Block, passages, token_estimate


def words(tokens: int, letter: str = "a") -> str:
    """Text of exactly `tokens` tokens by the estimate: words of three letters and a space."""
    return (f"{letter * 3} " * tokens)[:-1] + "."


def test_four_ascii_characters_or_one_other_are_a_token() -> None:
    assert token_estimate("") == 0
    assert token_estimate("abcd") == 1
    assert token_estimate("abcde") == 2
    assert token_estimate("データ") == 3
    assert token_estimate("abcd データ") == 2 + 3


def test_paragraphs_share_a_passage_until_the_next_does_not_fit() -> None:
    first, second, third = words(90, "a"), words(100, "b"), words(50, "c")
    assert passages([Block(first), Block(second), Block(third)]) == [f"{first}\n\n{second}", third]


def test_a_short_tail_joins_the_passage_before_it() -> None:
    long, tail = words(190), words(20, "z")
    assert passages([Block(long), Block(tail)]) == [f"{long}\n\n{tail}"]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    sentences = [words(80, letter) for letter in "abcd"]
    cut = passages([Block(" ".join(sentences))])
    assert cut == [" ".join(sentences[:2]), " ".join(sentences[2:])]


def test_lines_of_a_long_table_stay_lines() -> None:
    rows = [f"| {n:03d} | {'x' * 70} |" for n in range(30)]
    cut = passages([Block("\n".join(rows))])
    assert len(cut) > 1
    assert [line for passage in cut for line in passage.split("\n")] == rows


def test_a_sentence_without_an_end_is_cut_between_words() -> None:
    cut = passages([Block("word " * 500)])
    assert all(token_estimate(passage) <= PASSAGE_TOKENS for passage in cut)
    assert " ".join(cut).split() == ["word"] * 500


def test_a_word_longer_than_a_passage_is_cut_anywhere() -> None:
    cut = passages([Block("x" * 5000)])
    assert "".join(cut) == "x" * 5000
    assert all(token_estimate(passage) <= PASSAGE_TOKENS for passage in cut)


def test_text_without_spaces_is_cut_at_its_own_full_stops() -> None:
    sentence = "東京" * 40 + "。"
    cut = passages([Block(sentence * 4)])
    assert cut == [sentence * 2, sentence * 2]


def test_a_fence_stays_whole_beyond_the_size_of_a_passage() -> None:
    fence = "```sql\n" + "SELECT 1;\n" * 200 + "```"
    assert PASSAGE_TOKENS < token_estimate(fence) <= FENCE_TOKENS
    assert passages([Block(fence, "fence")]) == [fence]


@pytest.mark.parametrize("mark", ["```", "~~~~"])
def test_parts_of_a_long_fence_are_fenced_again(mark: str) -> None:
    lines = [f"line {n}" for n in range(1000)]
    parts = passages([Block("\n".join([f"{mark}text", *lines, mark]), "fence")])
    assert len(parts) > 1
    assert all(part.startswith(f"{mark}text\n") and part.endswith(f"\n{mark}") for part in parts)
    assert [line for part in parts for line in part.split("\n")[1:-1]] == lines
