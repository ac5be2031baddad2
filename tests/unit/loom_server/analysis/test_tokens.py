"""Segmentation: chunks, offsets, and what is in no unit."""

import pytest

from loom_server.analysis import tokens


def pieces(text: str) -> list[tuple[str, str]]:
    return [(unit.text, text[unit.start : unit.end]) for unit in tokens.units(text)]


@pytest.mark.parametrize(
    "text",
    ["", "a b", " a\u3000b\u2003c\x1fd\n", "pay DE89 3704 0044 0532 0130 00 now", "x (555) 123-4567, y", "+1 2"],
)
def test_both_ways_to_cut_give_the_same_chunks(text: str) -> None:
    found = list(tokens.chunks(text))
    assert [chunk for _, chunk in found] == tokens.plain_chunks(text)
    assert all(text[at : at + len(chunk)] == chunk for at, chunk in found)


def test_a_spaced_identifier_is_one_chunk_and_cuts_the_chunk_it_stands_in() -> None:
    assert tokens.plain_chunks("(DE89 3704 0044 0532 0130 00),x") == ["(", "DE89 3704 0044 0532 0130 00", "),x"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See Ana's cat.", [("see", "See"), ("ana", "Ana"), ("cat", "cat")]),
        ("one—two…three", [("one", "one"), ("two", "two"), ("three", "three")]),
        ("a\0b", [("a", "a"), ("b", "b")]),
        ("x🙂y", [("x", "x"), ("y", "y")]),
        ("a\ud800b", [("a", "a"), ("b", "b")]),
        ("شكرا جزيلا", [("شكرا", "شكرا"), ("جزيلا", "جزيلا")]),
        ("नमस्ते", [("नमस्ते", "नमस्ते")]),
        ("서울에서", [("서울에서", "서울에서")]),
        ("١٢٣", [("123", "١٢٣")]),
        ("½", [("1", "½"), ("2", "½")]),
        ("co\u00adop", [("coop", "co\u00adop")]),
        ("\u202eabc\u202c", [("abc", "abc")]),
        ("cafe\u0301", [("café", "cafe\u0301")]),
        ("don’t", [("don't", "don’t")]),
        ("Python入門", [("python", "Python"), ("入門", "入門"), ("入", "入"), ("門", "門")]),
        ("1,234.50 €", [("1234.50", "1,234.50")]),
        ("「猫」", [("猫", "猫")]),
        (
            "看https://a.com/b，猫",
            [("看", "看"), ("a.com/b", "https://a.com/b"), ("a.com", "a.com"), ("com", "com"), ("猫", "猫")],
        ),
        (
            "给ana@a.com写",
            [
                ("给", "给"),
                ("ana@a.com", "ana@a.com"),
                ("ana", "ana"),
                ("a.com", "a.com"),
                ("com", "com"),
                ("写", "写"),
            ],
        ),
        ("①", [("1", "①")]),
        ("ﷺ", [("صلى", "ﷺ"), ("الله", "ﷺ"), ("عليه", "ﷺ"), ("وسلم", "ﷺ")]),
    ],
)
def test_units_with_their_places(text: str, expected: list[tuple[str, str]]) -> None:
    assert pieces(text) == expected


@pytest.mark.parametrize(
    "sign",
    [
        *"_#&:/",
        "a_",
        "a.",
        "a-",
        "a:",
        "a/",
        "a@",
        "a'",
        "1,",
        "1.",
        "+1",
        "::",
        "http://",
        "a.b@",
        "\0",
        "\u0301",
        "aB",
        "AB12 ",
    ],
)
def test_a_long_run_of_any_sign_ends(sign: str) -> None:
    text = sign * 20_000
    found = list(tokens.units(text))
    assert all(0 <= unit.start < unit.end <= len(text) for unit in found)


@pytest.mark.parametrize("piece", ["Aa", "Mc", "../"])
def test_a_run_of_what_is_looked_for_in_short_ones_ends_too(piece: str) -> None:
    # With a search that takes time by the square of the length, each of these takes minutes.
    text = piece * 200_000
    assert all(0 <= unit.start < unit.end <= len(text) for unit in tokens.units(text))
