"""Folding: one spelling, and the way back to the original place."""

import pytest

from loom_server.analysis.folding import MAX_TOKEN, caseless, fold


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("plain", "plain"),
        ("Ｆull", "Full"),
        ("ﬃ", "ffi"),
        ("cafe\u0301", "café"),
        ("\u1112\u1161\u11ab", "한"),
        ("don’t", "don't"),
        ("wi‑fi", "wi-fi"),
        ("a\u200bb", "a b"),
        ("a\u00ad\u200d\ufeffb", "ab"),
        ("☕\ufe0f", "☕"),
        ("٣४", "34"),
        ("\U000116d0", "\U000116d0"),
        ("\u200d", ""),
        ("", ""),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text).text == folded


def test_places_lead_back() -> None:
    text = "a\u00adﬃb\u200d"
    folded = fold(text)
    assert folded.text == "affib"
    assert folded.span(0, 1) == (0, 1)
    assert folded.span(1, 4) == folded.span(2, 3) == (2, 3)
    assert folded.span(0, 5) == (0, 4)


def test_a_run_of_marks_is_cut_so_that_ordering_it_stays_cheap() -> None:
    text = "a" + "\u0315\u0300" * 50_000
    assert len(fold(text).text) <= len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("ABC", "abc"), ("Straße", "strasse"), ("ΣΊΣΥΦΟΣ", "σίσυφοσ"), ("İ", "i̇"), ("Ǆ", "dž")],
)
def test_caseless(text: str, expected: str) -> None:
    assert caseless(text) == expected


def test_a_token_has_a_bound_and_long_ones_stay_distinct() -> None:
    exact = "x" * MAX_TOKEN
    assert caseless(exact) == exact
    longer = caseless(exact + "a")
    assert len(longer) <= MAX_TOKEN
    assert longer != caseless(exact + "b")
    assert longer == caseless(exact.upper() + "A")
    assert len(caseless("ΐ" * MAX_TOKEN)) <= MAX_TOKEN
