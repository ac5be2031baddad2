"""Stems, lemmas and stop words of a word."""

import pytest

from loom_server.analysis.stems import LANGUAGES, SNOWBALL, Word, language_code, stem, word
from loom_server.analysis.stopwords import STOP_WORDS
from loom_server.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("running", "en", Word("run")),
        ("ran", "en", Word("ran", "run")),
        ("mice", "en", Word("mice", "mous")),
        ("children", "en", Word("children", "child")),
        ("better", "en", Word("better", "good")),
        ("js", "en", Word("js")),
        ("the", "en", Word("the", stop=True)),
        ("we'll", "en", Word("we'll", stop=True)),
        ("well", "en", Word("well")),
        ("o'brien", "en", Word("obrien")),
        ("naïve", "en", Word("naiv")),
        ("naïve", "und", Word("naïve")),
        ("123", "en", Word("123")),
        ("4o", "en", Word("4o")),
        ("x" * 65, "en", Word("x" * 65)),
        ("\u0301", "en", Word("\u0301")),
        ("кошки", "en", Word("кошки")),
        ("кошки", "ru", Word("кошк")),
        ("häuser", "de", Word("haus")),
        ("ging", "de", Word("ging", "geh")),
        ("chevaux", "fr", Word("cheval")),
        ("qu'il", "fr", Word("il", stop=True)),
        ("l'", "fr", Word("l")),
        ("børn", "da", Word("børn", "barn")),
    ],
)
def test_word(text: str, language: str, expected: Word) -> None:
    assert word(text, language) == expected


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("ar", "الكتاب", "كتاب"), ("da", "bilerne", "bilen"), ("de", "häuser", "haus"), ("en", "tests", "testing"),
        ("es", "gatos", "gato"), ("fi", "taloissa", "taloista"), ("fr", "chats", "chat"), ("hu", "házak", "házakat"),
        ("it", "gatti", "gatto"), ("nb", "bilene", "bilen"), ("nl", "katten", "kat"), ("pt", "gatos", "gato"),
        ("ro", "pisicile", "pisici"), ("ru", "книги", "книга"), ("sv", "bilarna", "bilen"),
    ],
)  # fmt: skip
def test_every_stemmed_language_brings_two_forms_together(language: str, one: str, other: str) -> None:
    assert stem(one, language) == stem(other, language)


def test_the_arabic_stem_of_a_word_does_not_depend_on_the_words_before() -> None:
    words = ["والمدرسة", "يكتبون", "الكتاب", "سيذهبون", "مكتبات"]
    forward = {text: stem(text, "ar") for text in words}
    assert {text: stem(text, "ar") for text in reversed(words)} == forward


@pytest.mark.parametrize(
    ("tag", "code"), [("en", "en"), ("EN", "en"), ("en-GB", "en"), ("pt_BR", "pt"), ("no", "nb"), ("nn", "nb")]
)
def test_language_code(tag: str, code: str) -> None:
    assert language_code(tag) == code


@pytest.mark.parametrize("tag", ["", "xx", "english", "-"])
def test_an_unknown_language_is_an_error_of_its_field(tag: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        language_code(tag)
    assert [error.path for error in caught.value.errors] == ["language"]


def test_there_are_fifteen_stemmed_languages_and_each_has_stop_words() -> None:
    assert len(SNOWBALL) == 15
    assert set(SNOWBALL) == set(STOP_WORDS)
    assert set(SNOWBALL) < LANGUAGES


@pytest.mark.parametrize("language", sorted(STOP_WORDS))
def test_every_stop_word_is_one_as_the_analysis_writes_it(language: str) -> None:
    assert {text for text in STOP_WORDS[language] if not word(text, language).stop} == set()


@pytest.mark.parametrize("text", ["may", "will", "us", "march"])
def test_words_that_name_something_are_no_stop_words(text: str) -> None:
    assert not word(text, "en").stop
