from __future__ import annotations

from pathlib import Path

import pytest

from judged_sets import write_lines
from loom_server.errors import InvalidInput
from loom_server.evaluation.datasets.base import Dataset
from loom_server.evaluation.datasets.read import read


def of(tmp_path: Path, name: str, text: str) -> Dataset:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read(path, "team")


ROWS = [
    {"query": "who deploys?", "relevant": ["deploy/window", "deploy/who"], "category": "ops"},
    {"query": "which port?", "relevant": {"port": 2, "host": 1, "old": 0}, "id": "port"},
    {"query": "who is the king?", "relevant": "none"},
    {"query": "what of nothing?", "relevant": []},
]


def test_lines_of_json(tmp_path: Path) -> None:
    found = read(write_lines(tmp_path / "mine.jsonl", ROWS), "team")
    assert (found.name, found.shape, dict(found.documents)) == ("mine", "judged", {})
    assert [(dict(one.relevant), one.near, one.category, one.namespace) for one in found.questions] == [
        ({"deploy/window": 1, "deploy/who": 1}, (), "ops", "team"),
        ({"port": 2, "host": 1}, ("old",), "", "team"),
        ({}, (), "", "team"),
        ({}, (), "", "team"),
    ]
    assert found.questions[1].id == "port"


def test_an_id_is_of_the_text_and_not_of_the_line(tmp_path: Path) -> None:
    there = read(write_lines(tmp_path / "a.jsonl", ROWS)).questions[0].id
    assert there == read(write_lines(tmp_path / "b.jsonl", ROWS[::-1])).questions[-1].id


def test_rows_of_a_csv_file_say_the_same(tmp_path: Path) -> None:
    rows = ["query,relevant,grade,id,category", "who deploys?,deploy/window,,,ops", "who deploys?,deploy/who,,,"]
    rows += ['which port?,"a, b",2,port,', "who is the king?,none,,,"]
    found = of(tmp_path, "mine.csv", "\n".join(rows))
    assert [(one.text, dict(one.relevant), one.category) for one in found.questions] == [
        ("who deploys?", {"deploy/window": 1, "deploy/who": 1}, "ops"),
        ("which port?", {"a, b": 2}, ""),
        ("who is the king?", {}, ""),
    ]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.jsonl", '{"query": "x", "relevant": 1}', r"line 1: 'relevant' must be a list of keys, an object"),
        ("a.jsonl", '{"query": "x", "relevant": [1]}', r"line 1: 'relevant' names 1, which is no memory key"),
        ("a.jsonl", '{"query": "x", "relevant": {"a": 0.5}}', r"line 1: the grade 0.5 must be a whole number"),
        ("a.jsonl", '{"query": " ", "relevant": ["a"]}', r"line 1: 'query' is empty"),
        ("a.jsonl", '{"query": "x", "relevant": ["a"]}\n{"query": "y"}', r"line 2: 'relevant' is missing"),
        ("a.jsonl", '{"query":"x","relevant":[],"id":"1"}\n{"query":"y","relevant":[],"id":"1"}', "line 2: the id '1'"),
        ("a.csv", "question,relevant\nx,a\n", r"line 1: has the columns question, relevant"),
        ("a.csv", "query,relevant,grade\nx,a,much\n", r"line 2: the grade 'much' must be a whole number"),
        ("a.csv", "query,relevant\n", "holds no query"),
        ("a.jsonl", "", "holds nothing"),
        ("a.jsonl", '{"a": 1, "b": 2}', r"line 1: has a, b; looked for conversation and qa"),
        ("a.json", "{}", "must be a JSON list"),
        ("a.txt", "x", "is no .json"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, name: str, text: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        of(tmp_path, name, text)
