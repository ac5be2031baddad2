"""Bigrams of scripts without spaces."""

import pytest

from loom_server.analysis.scripts import bigrams


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("猫", ["猫"]),
        ("天気", ["天気"]),
        ("ねこが", ["ねこ", "こが"]),
        ("ラーメン", ["ラー", "ーメ", "メン"]),
        ("ไทย", ["ไท", "ทย"]),
        ("ที่", ["ที่"]),
        ("ลาว", ["ลา", "าว"]),
        ("ខ្មែរ", ["ខ្មែ", "មែរ"]),
    ],
)
def test_bigrams(run: str, expected: list[str]) -> None:
    found = [unit for unit in bigrams(run, 5) if unit.kind == "bigram"]
    assert [unit.text for unit in found] == expected
    assert [run[unit.start - 5 : unit.end - 5] for unit in found] == expected


def test_each_han_character_of_a_longer_run_is_told_and_no_kana() -> None:
    characters = [(unit.text, unit.start) for unit in bigrams("猫が好", 0) if unit.kind == "character"]
    assert characters == [("猫", 0), ("好", 2)]
    assert [unit.kind for unit in bigrams("猫", 0)] == ["bigram"]
