from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest

from judged_sets import LONGMEMEVAL, write_lines
from loom_server.errors import InvalidInput
from loom_server.evaluation.datasets.base import Dataset
from loom_server.evaluation.datasets.read import read


def of(tmp_path: Path, value: Any) -> Dataset:
    path = tmp_path / "haystacks.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return read(path)


def test_each_question_has_its_own_namespace(tmp_path: Path) -> None:
    found = of(tmp_path, LONGMEMEVAL)
    assert (found.name, found.shape) == ("haystacks", "longmemeval")
    assert {space: [(one.key, one.text) for one in some] for space, some in found.documents.items()} == {
        "a1": [("s1:0", "I ran 5K in 25 minutes."), ("s1:1", "Well done."), ("s2:0", "I like soup.")],
        "a2_abs": [("s3:0", "My cat is Luna.")],
    }


def test_marked_turns_are_relevant_and_abs_is_unanswerable(tmp_path: Path) -> None:
    found = of(tmp_path, LONGMEMEVAL)
    assert [(one.id, one.namespace, dict(one.relevant), one.near, one.category) for one in found.questions] == [
        ("a1", "a1", {"s1:0": 1}, (), "single-session-user"),
        ("a2_abs", "a2_abs", {}, ("s3:0",), "knowledge-update"),
    ]
    assert found.notes == ("1 question without a marked turn left out",)


def test_lines_are_read_as_well(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "haystacks.jsonl", LONGMEMEVAL, zipped=True)
    assert read(path).questions == of(tmp_path, LONGMEMEVAL).questions


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda one: one.update(haystack_session_ids=["s1"]),
            "object 1: has 1 haystack_session_ids for 2 haystack_sessions",
        ),
        (
            lambda one: one.update(haystack_sessions=[["x"], []]),
            r"session 's1', turn 1: must be a JSON object, not str",
        ),
        (lambda one: one.update(haystack_sessions=["x", []]), r"'s1' must be a list, not str"),
        (lambda one: one.pop("question"), "'question' is missing"),
        (lambda one: one.update(question_id="a3"), "question_id 'a3' stands more than once"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, change: Any, told: str) -> None:
    value = copy.deepcopy(LONGMEMEVAL)
    change(value[0])
    with pytest.raises(InvalidInput, match=told):
        of(tmp_path, value)


def test_the_sample_where_it_is_there() -> None:
    """`LOOM_TEST_DATA` names a folder that may hold `longmemeval_sample`."""
    folder = Path(os.environ.get("LOOM_TEST_DATA", "")) / "longmemeval_sample"
    if not (folder / "corpus.jsonl.gz").is_file():
        pytest.skip("LOOM_TEST_DATA names no folder with the set longmemeval_sample")
    found = read(folder)
    assert [one.namespace for one in found.questions if one.id.endswith("_abs")] == ["gpt4_70e84552_abs"]
    assert all(one.namespace in found.documents for one in found.questions)
