from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest

from judged_sets import LOCOMO
from loom_server.errors import InvalidInput
from loom_server.evaluation.datasets.base import Dataset
from loom_server.evaluation.datasets.read import read


def of(tmp_path: Path, value: Any) -> Dataset:
    path = tmp_path / "chats10.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return read(path)


def test_turns_are_memories_in_the_order_of_the_sessions(tmp_path: Path) -> None:
    found = of(tmp_path, LOCOMO)
    assert (found.name, found.shape) == ("chats10", "locomo")
    assert [(one.key, one.text) for one in found.documents["conv-1"]] == [
        ("conv-1:D1:1", "Ana: I adopted a grey cat."),
        ("conv-1:D1:2", "Ben: I bought a boat."),
        ("conv-1:D2:1", "Ben: I sold the boat. [shares an image: a white boat]"),
    ]


def test_evidence_is_mended_and_category_5_is_unanswerable(tmp_path: Path) -> None:
    found = of(tmp_path, LOCOMO)
    told = [(one.id, one.category, dict(one.relevant), one.near) for one in found.questions]
    assert told == [
        ("conv-1:q0", "single-hop", {"conv-1:D1:1": 1}, ()),
        ("conv-1:q1", "multi-hop", {"conv-1:D1:2": 1, "conv-1:D2:1": 1}, ()),
        ("conv-1:q3", "adversarial", {}, ("conv-1:D1:1",)),
    ]
    assert found.notes == ("1 question without usable evidence left out",)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda one: one["qa"][0].update(category=9), r"object 1, qa 1: 'category' must be 1 to 5"),
        (lambda one: one["qa"][1].pop("question"), r"object 1, qa 2: 'question' is missing"),
        (lambda one: one["conversation"]["session_1"][1].pop("text"), r"session_1, turn 2: 'text' is missing"),
        (lambda one: one["conversation"]["session_1"][1].update(dia_id="D1:1"), "'conv-1:D1:1' stands more than once"),
        (lambda one: one.update(conversation={"speaker_a": "Ana"}), "has no session_1"),
        (lambda one: one.update(qa={}), r"'qa' must be a list, not dict"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, change: Any, told: str) -> None:
    value = copy.deepcopy(LOCOMO)
    change(value[0])
    with pytest.raises(InvalidInput, match=told):
        of(tmp_path, value)
    with pytest.raises(InvalidInput, match="sample_id 'conv-1' stands more than once"):
        of(tmp_path, LOCOMO * 2)


def test_the_published_set_where_it_is_there() -> None:
    """`LOOM_TEST_DATA` names a folder that may hold `locomo` in the folder's shape."""
    folder = Path(os.environ.get("LOOM_TEST_DATA", "")) / "locomo"
    if not (folder / "corpus.jsonl.gz").is_file():
        pytest.skip("LOOM_TEST_DATA names no folder with the set locomo")
    found = read(folder)
    assert {one.namespace for one in found.questions} <= set(found.documents)
    assert any(not one.relevant for one in found.questions)
    keys = {space: {one.key for one in some} for space, some in found.documents.items()}
    assert all(set(one.relevant) <= keys[one.namespace] for one in found.questions)
