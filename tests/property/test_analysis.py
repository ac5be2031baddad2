"""The analysis, for any text: it never fails, both sides agree, and places lead back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loom_server.analysis import analyse, tokens
from loom_server.analysis.folding import MAX_TOKEN
from loom_server.model.query import MAX_TERMS

LANGUAGES = st.sampled_from(["en", "de", "fr", "ar", "ja", "und"])

SIGNS = list("-_./\\:@#&+'’~,;!?()[]{}<>\"=%$* \t\n\0\u00ad\u200b\u200d\u0301\u3000…。，")
WORDS = [
    "the", "mice", "Ana's", "don't", "ClickHouse", "pg_hba.conf", "PROJ-1234", "a/b/c.py", "v1.9.2", "10.0.0.1",
    "ana@example.com", "https://example.com/a?b=c", "DE89 3704 0044 0532 0130 00", "+44 20 7946 0958", "1,234.50",
    "10:30", "5pm", "2024-05-01T10:00:00Z", "::1", "00:1a:2b:3c:4d:5e", "C++", ".NET", "猫が好き", "สวัสดี",
    "http://", "v", "+", "#", "JOSÉ", "ﷺ", "½", "İ", "ß", "АПИ", "שלום", "नमस्ते", "서울", "🙂", "x", "7", "aB", "AB12",
]  # fmt: skip

ANY_TEXT = st.text(st.characters(codec=None), max_size=200)
MADE_TEXT = st.lists(st.sampled_from(WORDS + SIGNS), max_size=25).map("".join)
TEXTS = st.one_of(ANY_TEXT, MADE_TEXT)
PLAIN_WORDS = st.lists(st.text(st.sampled_from("abcdefghijklmnoprstuwyéñü"), min_size=1, max_size=12), max_size=12)


@given(TEXTS, TEXTS, LANGUAGES)
@settings(max_examples=300, deadline=None)
def test_any_text_has_tokens_that_can_be_stored(text: str, key: str, language: str) -> None:
    found = analyse.index_tokens(text, key, language)
    for token, count in found.counts.items():
        assert 0 < len(token) <= MAX_TOKEN + 2
        assert 1 <= count <= analyse.MAX_COUNT
        assert "\0" not in token
        assert not any(character.isspace() for character in token)
        token.encode()
    assert found.length == sum(analyse.scored_tokens(found).values())


@given(TEXTS, LANGUAGES)
@settings(max_examples=300, deadline=None)
def test_every_term_of_a_text_finds_that_text(text: str, language: str) -> None:
    counts = analyse.index_tokens(text, language=language).counts
    for term in analyse.query_terms(text, language):
        assert set(term.forms) & set(counts), term
        if term.kind == "stop":
            assert term.scored is None
        else:
            assert term.scored in term.forms
            assert term.scored in counts


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_every_term_of_a_key_finds_that_key(key: str) -> None:
    counts = analyse.index_tokens("", key).counts
    for term in analyse.query_terms(key):
        if term.kind != "stop":
            assert set(term.forms) & set(counts), term


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_terms_are_distinct_and_bounded(text: str) -> None:
    terms = analyse.query_terms(text)
    assert len(terms) <= MAX_TERMS
    slots = [term.scored or term.forms[0] for term in terms]
    assert len(set(slots)) == len(slots)
    assert all(len(set(term.forms)) == len(term.forms) > 0 for term in terms)


@given(TEXTS, LANGUAGES)
@settings(max_examples=300, deadline=None)
def test_places_lie_in_the_text_in_order_and_every_term_has_one(text: str, language: str) -> None:
    terms = analyse.query_terms(text, language)
    found = analyse.matches(text, terms, language)
    assert all(0 <= match.start < match.end <= len(text) for match in found)
    assert [match.start for match in found] == sorted(match.start for match in found)
    assert {match.term for match in found} == {term.text for term in terms}


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_a_place_holds_what_was_found_there(text: str) -> None:
    for unit in tokens.units(text):
        if unit.kind in ("word", "bigram") and unit.text.isascii() and text.isascii():
            place = text[unit.start : unit.end].lower()
            assert unit.text in (place, place.replace(",", ""), place.replace(".", "")) or not unit.text.isalpha()


@given(PLAIN_WORDS)
@settings(deadline=None)
def test_plain_words_have_the_same_tokens_in_any_case(words: list[str]) -> None:
    text = " ".join(words)
    expected = analyse.index_tokens(text)
    assert analyse.index_tokens(text.upper()) == expected
    assert analyse.index_tokens(text.title()) == expected


@given(st.lists(st.sampled_from([word for word in WORDS if word != "AB12"]), max_size=10))
@settings(deadline=None)
def test_what_is_asked_in_small_letters_finds_what_was_written(words: list[str]) -> None:
    text = " ".join(words)
    counts = analyse.index_tokens(text).counts
    for term in analyse.query_terms(text.lower()):
        assert set(term.forms) & set(counts), term


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_the_same_text_has_the_same_tokens_with_and_without_the_memo(text: str) -> None:
    first = analyse.index_tokens(text)
    assert analyse.index_tokens(text) == first
    memoised = [token for chunk in tokens.plain_chunks(text) for token in analyse.chunk_tokens(chunk, "en")[0]]
    assert {token: memoised.count(token) for token in memoised} == first.counts


@given(TEXTS, TEXTS)
@settings(max_examples=300, deadline=None)
def test_a_line_break_parts_texts(one: str, other: str) -> None:
    both = analyse.index_tokens(f"{one}\n{other}")
    apart = [analyse.index_tokens(text) for text in (one, other)]
    assert both.length == sum(tokens.length for tokens in apart)
    assert both.counts.keys() == apart[0].counts.keys() | apart[1].counts.keys()


@pytest.mark.parametrize("size", [2_000_000])
def test_a_text_of_two_megabytes_is_analysed(size: int) -> None:
    text = ("the quick brown fox jumps over pg_hba.conf, " * (size // 44 + 1))[:size]
    assert analyse.index_tokens(text).length > size // 10
