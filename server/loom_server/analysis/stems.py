"""A word to its stem, the stem of its lemma, or its place among the stop words.

    word("mice", "en")  stem "mice", lemma "mous"      word("the", "en")  a stop word

Stems are Snowball's; lemmas are simplemma's, kept only where their stem differs. Words with
a digit, and words of over 64 characters, are their own stem. Before stemming:

- an apostrophe is left out (`o'brien` = `obrien`), after the stop words were asked;
- English: accents of Latin words are left out (`José` = `Jose`), since they never tell two
  English words apart;
- French and Italian: an elided article or pronoun is left out (`l'homme` = `homme`);
- Russian: ё is е.

Stemming takes about 10 µs a word and a lemma 7 µs, so words are memoised. The stemmers are
imported on first use: the import alone takes over a second. A language's lemmas are loaded on
first use and stay: 0.2 s and 20 MB for English, the most for Finnish (3 s, 330 MB).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import cast
from unicodedata import normalize

import regex
from simplemma import Lemmatizer
from simplemma.strategies import DefaultStrategy
from simplemma.strategies.dictionaries import DefaultDictionaryFactory

from loom_server.analysis.stopwords import STOP_WORDS
from loom_server.errors import InvalidInput

Rule = Callable[[str], str]

MEMOISED_WORDS = 65_536
_LONGEST = 64

SNOWBALL = {
    "ar": "Arabic", "da": "Danish", "de": "German", "en": "English", "es": "Spanish", "fi": "Finnish",
    "fr": "French", "hu": "Hungarian", "it": "Italian", "nb": "Norwegian", "nl": "Dutch",
    "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sv": "Swedish",
}  # fmt: skip
UNSTEMMED = frozenset({"ja", "km", "lo", "my", "th", "und", "zh"})
"""Languages without word endings to cut, and `und`: words as they are written."""

LANGUAGES = frozenset(SNOWBALL) | UNSTEMMED
_ALIASES = {"no": "nb", "nn": "nb"}

# By itself the library keeps eight languages and loads the ninth anew at each change.
_LEMMATIZER = Lemmatizer(
    cache_max_size=1,
    lemmatization_strategy=DefaultStrategy(dictionary_factory=DefaultDictionaryFactory(cache_max_size=len(SNOWBALL))),
)
_LATIN = regex.compile(r"[\p{Latin}\p{M}]+")
_MARK = regex.compile(r"\p{M}")
_WORD = regex.compile(r"[\p{L}\p{M}]+")
_ELISION = {
    "fr": regex.compile(r"^(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)'"),
    "it": regex.compile(r"^(?:[cdl]|un|all|dall|dell|nell|sull|quell|quest)'"),
}


@dataclass(frozen=True, slots=True)
class Word:
    """`lemma` is the stem of the lemma, empty where it is `stem`. A stop word is its own stem."""

    stem: str
    lemma: str = ""
    stop: bool = False


@lru_cache(maxsize=256)
def language_code(language: str) -> str:
    """The code of a language tag: `en` of `en-GB`.

    Raises:
        InvalidInput: the analysis does not know the language.
    """
    code = language.replace("_", "-").partition("-")[0].lower()
    code = _ALIASES.get(code, code)
    if code not in LANGUAGES:
        known = ", ".join(sorted(LANGUAGES))
        raise InvalidInput.field("language", f"unknown language; use one of {known}, where und leaves words as written")
    return code


@lru_cache(maxsize=MEMOISED_WORDS)
def word(text: str, language: str) -> Word:
    """The word of a case-folded text, in a language of `LANGUAGES`."""
    if elision := _ELISION.get(language):
        text = elision.sub("", text) or text
    if text in STOP_WORDS.get(language, ()):
        return Word(text, stop=True)
    plain = _spelling(text.replace("'", ""), language)
    if len(plain) > _LONGEST or language in UNSTEMMED or not _WORD.fullmatch(plain):
        return Word(plain)
    own = stem(plain, language)
    lemma = _lemma(plain, language)
    return Word(own, lemma if lemma != own else "")


def stem(plain: str, language: str) -> str:
    """The Snowball stem of a case-folded word of letters, in a language of `SNOWBALL`."""
    return _stemmer(language)(plain) or plain


def _spelling(text: str, language: str) -> str:
    if text.isascii():
        return text
    if language == "en" and _LATIN.fullmatch(text):
        return _MARK.sub("", normalize("NFD", text)) or text
    return text.replace("ё", "е") if language == "ru" else text


def _lemma(plain: str, language: str) -> str:
    """The stem of the lemma; empty where the lemma is no single word, or one letter (`js` is no plural)."""
    lemma = _spelling(_LEMMATIZER.lemmatize(plain, language).casefold(), language)
    return stem(lemma, language) if len(lemma) > 1 and _WORD.fullmatch(lemma) else ""


@cache
def _stemmer(language: str) -> Rule:
    kind = getattr(import_module("nltk.stem.snowball"), f"{SNOWBALL[language]}Stemmer")
    if language == "ar":
        # This one keeps what it found in a word while it stems the next.
        return lambda plain: cast(str, kind().stem(plain))
    return cast(Rule, kind().stem)
