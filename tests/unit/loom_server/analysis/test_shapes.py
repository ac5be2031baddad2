"""Identifiers known by their shape: one spelling for all that mean the same."""

import pytest

from loom_server.analysis import shapes
from loom_server.analysis.tokens import units


def whole(text: str) -> list[str]:
    return [unit.text for unit in units(text) if unit.kind == "identifier"]


def inside(text: str) -> list[str]:
    return [unit.text for unit in units(text) if unit.kind in ("nested", "part")]


@pytest.mark.parametrize(
    ("spelling", "texts"),
    [
        ("1.9.2", ["1.9.2", "v1.9.2", "V1.9.2"]),
        ("1.9", ["v1.9"]),
        ("1.9.2-rc1", ["v1.9.2-rc1", "1.9.2-RC1"]),
        ("550e8400-e29b-41d4-a716-446655440000",
         ["550E8400-E29B-41D4-A716-446655440000", "{550e8400-e29b-41d4-a716-446655440000}"]),
        ("00:1a:2b:3c:4d:5e", ["00:1A:2B:3C:4D:5E", "00-1a-2b-3c-4d-5e"]),
        ("2001:db8::1", ["2001:db8::1", "2001:DB8:0:0::1", "[2001:0db8:0:0:0:0:0:1]"]),
        ("::1", ["::1"]),
        ("::ffff:102:304", ["::ffff:1.2.3.4"]),
        ("10.0.0.1", ["10.0.0.1", "10.0.0.1:8080", "http://10.0.0.1/"]),
        ("10.0.0.0/8", ["10.0.0.0/8"]),
        ("de89370400440532013000",
         ["DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "de89 3704 0044 0532 0130 00",
          "DE89 3704 0044 0532 0130 00 for Ana", "(DE89 3704 0044 0532 0130 00)."]),
        ("be68539007547034", ["BE68 5390 0754 7034 is mine", "BE68 5390 0754 7034 from home"]),
        ("gb29nwbk60161331926819", ["GB29 NWBK 6016 1331 9268 19", "gb29nwbk60161331926819"]),
        ("xx00123456789012345", ["XX00 1234 5678 9012 345", "XX00123456789012345"]),
        ("442079460958", ["+44 20 7946 0958", "+442079460958", "+44-20-7946-0958", "call +44 20 7946 0958!"]),
        ("5551234567", ["(555) 123-4567", "555-123-4567", "555.123.4567", "(555)123-4567"]),
        ("5551234", ["555-1234"]),
        ("2024-05-01", ["2024-05-01", "2024/5/1", "2024/05/01", "2024.05.01"]),
        ("2024-05", ["2024-05"]),
        ("2024-05-01t10:00:00z", ["2024-05-01T10:00:00Z"]),
        ("a1b2c3d", ["a1b2c3d", "A1B2C3D"]),
        ("1234567", ["1234567"]),
    ],
)  # fmt: skip
def test_one_spelling(spelling: str, texts: list[str]) -> None:
    assert {text: whole(text) for text in texts} == {text: [spelling] for text in texts}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("v1.9.2", ["1.9", "1", "9", "2"]),
        ("v1.9", ["1", "9"]),
        ("1.9.2-rc1", ["1.9", "1", "9", "2", "rc", "1"]),
        ("10.0.0.1", ["10", "0", "0", "1"]),
        ("10.0.0.0/8", ["10.0.0.0", "10", "0", "0", "0", "8"]),
        ("2024-05-01", ["2024-05", "2024", "05", "01"]),
        ("2024-05", ["2024", "05"]),
        ("2024-05-01T10:30:00Z", ["2024-05-01", "2024-05", "2024", "05", "01", "10h30"]),
        ("555-123-4567", ["555", "123", "4567"]),
        ("1234567", ["1234567"]),
        ("DE89370400440532013000", ["de89", "3704", "0044", "0532", "0130", "00"]),
        ("550e8400-e29b-41d4-a716-446655440000", []),
        ("00:1A:2B:3C:4D:5E", []),
        ("2001:db8::1", []),
        ("a1b2c3d", []),
    ],
)
def test_parts_of_a_shape(text: str, parts: list[str]) -> None:
    assert inside(text) == parts


@pytest.mark.parametrize(
    "text",
    ["deadbeef", "12:30", "2024-13", "2024", "123456", "::", "std::", "AB12 some more words here", "+5", "(555) 12",
     "2010-2012", "de12 3456 7890 1234 5678 90"],
)  # fmt: skip
def test_what_only_looks_like_one(text: str) -> None:
    assert [unit.text for unit in units(text) if unit.kind == "identifier" and len(unit.text) > 5] == []


def test_a_network_address_over_255_is_a_version() -> None:
    assert shapes.shape_of("999.0.0.1") is not shapes.shape_of("9.0.0.1")
    assert whole("999.0.0.1") == ["999.0.0.1"]


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("DE89 3704 0044 0532 0130 00", 27),
        ("BE68 5390 0754 7034 is", 19),
        ("BE68 5390 0754 7034 from", 19),
        ("AB12 some more", 0),
        ("AB12 SOME MORE TEXT", 19),
        ("+44 20 7946 0958", 16),
        ("+4", 0),
    ],
)
def test_spanning_length(text: str, length: int) -> None:
    assert shapes.spanning_length(text) == length
