from __future__ import annotations

import json
from pathlib import Path

import pytest

from judged_sets import a_run, a_set, answer, asked
from loom_server.errors import InvalidInput
from loom_server.evaluation.runfile import read_run, write_run

RUN = a_run(
    a_set(
        "small",
        [asked("a", {"x": 2}), asked("n", {}, "held_out", "unanswerable")],
        {("rrf", "on"): [answer("a", "xy"), answer("n", "")], ("oracle:rrf", "off"): [answer("a", "x", abstain=None)]},
    )
)


def test_a_run_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "one.json"
    write_run(RUN, path)
    assert read_run(path) == RUN
    assert [one.name for one in path.parent.iterdir()] == ["one.json"]


def test_rows_are_found_by_label_and_floor() -> None:
    (one,) = RUN.sets
    assert one.labels == ("rrf", "oracle:rrf")
    ranked, plain = one.ranking("rrf"), one.ranking("oracle:rrf")
    assert ranked is not None
    assert ranked.floor == "on"
    assert plain is not None
    assert plain.system == "oracle"
    assert (one.row("rrf", "off"), one.ranking("lexical"), RUN.named("other")) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is no run file"),
        ("[]", "is no run file"),
        ("{}", "has the schema None, this version reads 1"),
        ('{"schema": 2}', "has the schema 2"),
        ('{"schema": 1}', "about: Field required"),
    ],
)
def test_what_is_no_run_is_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "one.json"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=told):
        read_run(path)


def test_a_wrong_value_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    write_run(RUN, path)
    value = json.loads(path.read_text())
    value["sets"][0]["rows"][0]["answers"][1]["ms"] = "slow"
    path.write_text(json.dumps(value))
    with pytest.raises(InvalidInput, match=r"one.json: sets.0.rows.0.answers.1.ms: "):
        read_run(path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"none.json: cannot be read \(No such file"):
        read_run(tmp_path / "none.json")
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_run(RUN, tmp_path / "file" / "one.json")
