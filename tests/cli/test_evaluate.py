"""`loom eval` as a person runs it: processes, a store of their own or the one that is there."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judged_sets import LOCOMO, LONGMEMEVAL, write_beir, write_lines
from loom_server.cli.main import app
from loom_server.evaluation.runfile import Run, SetRun, read_run
from served import ENVIRONMENT, serving


def loom(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "loom_server.cli.main", *arguments]
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=240)


def timeless(run: Run) -> Run:
    def plain(one: SetRun) -> SetRun:
        rows = (replace(row, answers=tuple(replace(each, ms=0.0) for each in row.answers)) for row in one.rows)
        return replace(one, load_s=0.0, rows=tuple(rows))

    return replace(run, about=replace(run.about, at="", command=""), sets=tuple(map(plain, run.sets)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("evaluation")
    for name in ("small", "other"):
        write_beir(made / "sets" / name)
    (made / "chats.json").write_text(json.dumps(LOCOMO))
    (made / "haystacks.json").write_text(json.dumps(LONGMEMEVAL))
    return made


@pytest.fixture(scope="module")
def ran(folder: Path) -> subprocess.CompletedProcess[str]:
    """The first run, of every shape, with the oracle beside it."""
    sets = ("sets", "chats.json", "haystacks.json")
    modes = ("--mode", "default", "--mode", "hybrid")
    return loom("eval", "run", *sets, *modes, "--baseline", "oracle", "--out", "one.json", cwd=folder)


def test_a_run_prints_its_tables_and_writes_its_file(folder: Path, ran: subprocess.CompletedProcess[str]) -> None:
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    for told in ("Ranking", "Ranking by half", "Verdict", "Time", "oracle:hybrid", "--baseline oracle"):
        assert told in ran.stdout
    run = read_run(folder / "one.json")
    assert [(one.name, one.shape) for one in run.sets] == [
        ("other", "beir"), ("small", "beir"), ("chats", "locomo"), ("haystacks", "longmemeval"),
    ]  # fmt: skip
    assert run.about.settings == {"LOOM_EMBED_CACHE_SIZE": "0"}
    assert run.about.embedder.startswith("wordllama:")
    assert run.about.command.startswith("loom eval run sets chats.json")
    assert not (folder / ".loom").exists()


def test_a_second_run_is_the_same_and_a_resumed_one_asks_nothing(
    folder: Path, ran: subprocess.CompletedProcess[str]
) -> None:
    assert ran.returncode == 0
    again = ("eval", "run", "sets", "--sets", "small", "-m", "default", "-m", "hybrid", "--baseline", "oracle")
    assert loom(*again, "--out", "two.json", cwd=folder).returncode == 0
    first, second = read_run(folder / "one.json"), read_run(folder / "two.json")
    small = [one for one in timeless(first).sets if one.name == "small"]
    assert timeless(second) == replace(timeless(first), sets=tuple(small))
    assert loom(*again, "--out", "two.json", "--resume", cwd=folder).returncode == 0
    assert read_run(folder / "two.json").sets == second.sets
    other = loom(*again, "--limit", "2", "--out", "two.json", "--resume", cwd=folder)
    assert other.returncode == 2
    assert "other versions, settings or questions" in other.stderr


def test_runs_and_modes_are_compared(folder: Path, ran: subprocess.CompletedProcess[str]) -> None:
    assert ran.returncode == 0
    found = loom("eval", "compare", "one.json", "--mode", "oracle:hybrid", "--against", "hybrid", "--json", cwd=folder)
    assert found.returncode == 0, found.stderr
    told = json.loads(found.stdout)["differences"]
    assert {(one["first"], one["second"]) for one in told} == {("oracle:hybrid", "hybrid")}
    assert {one["measure"] for one in told} == {"nDCG@10", "R@5", "R@10", "RR@10", "Success@1"}
    shown = loom("eval", "compare", "one.json", "one.json", "--half", "held_out", cwd=folder)
    assert (shown.returncode, "paired randomisation test" in " ".join(shown.stdout.split())) == (0, True)
    assert loom("eval", "compare", "one.json", cwd=folder).returncode == 2


def test_runs_of_other_data_are_refused(folder: Path, ran: subprocess.CompletedProcess[str]) -> None:
    assert ran.returncode == 0
    value = json.loads((folder / "one.json").read_text())
    value["sets"][0]["data_hash"] = "0" * 64
    (folder / "changed.json").write_text(json.dumps(value))
    found = loom("eval", "compare", "one.json", "changed.json", cwd=folder)
    assert found.returncode == 2
    assert found.stderr.startswith("Error: other: the runs were made on different data (")


def test_reports_are_written(folder: Path, ran: subprocess.CompletedProcess[str]) -> None:
    assert ran.returncode == 0
    written = loom("eval", "report", "one.json", "--out", "report.html", cwd=folder)
    assert (written.returncode, written.stdout, written.stderr) == (0, "", "Wrote report.html.\n")
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    printed = loom("eval", "report", "one.json", "--markdown", cwd=folder)
    assert printed.stdout.startswith("## All runs\n")
    assert printed.stdout.count("### Verdict") == 4


def test_json_is_the_only_thing_on_stdout(folder: Path) -> None:
    found = loom("eval", "run", "sets/small", "--embedder", "hash", "--limit", "2", "--json", cwd=folder)
    assert found.returncode == 0, found.stderr
    told = json.loads(found.stdout)
    assert told["about"]["embedder"].startswith("loom:")
    assert told["sets"][0]["ranking"][0]["n"] == 2


def test_judged_queries_are_asked_of_the_store_that_is_there(folder: Path) -> None:
    mine = [
        {"query": "Where does the heron nest?", "relevant": ["heron"]},
        {"query": "Who is the king?", "relevant": "none"},
    ]
    write_lines(folder / "mine.jsonl", mine)
    where = ("--data-dir", "own", "--namespace", "birds")
    assert loom("set", "heron", "The heron nests on the pier.", *where, cwd=folder).returncode == 0
    alone = loom("eval", "run", "mine.jsonl", *where, "--out", "mine.json", cwd=folder)
    assert alone.returncode == 0, alone.stderr
    with serving(folder / "own") as address:
        assert address
        served = loom("eval", "run", "mine.jsonl", *where, "--out", "served.json", cwd=folder)
    assert served.returncode == 0, served.stderr
    first, second = read_run(folder / "mine.json"), read_run(folder / "served.json")
    assert timeless(first) == timeless(second)
    assert [answer.keys for answer in first.sets[0].rows[0].answers] == [("heron",)]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("sets", "--sets", "none"), "has no set none; it holds other, small"),
        (("sets", "--mode", "magic"), "--mode: 'magic' is no mode"),
        (("sets", "--embedder", "magic"), "LOOM_EMBEDDER (given as --embedder)"),
        (("sets", "--resume"), "--resume: needs --out"),
        (("sets", "--org", "x"), "--namespace: must be named"),
        (("sets", "--namespace", "x"), "has documents of its own"),
        (("mine.jsonl",), "name their namespace with --namespace"),
        (("mine.jsonl", "-n", "x", "--baseline", "oracle"), "--baseline: the oracle ranks the documents"),
        (("sets/small", "sets/small"), "two sets have this name"),
    ],
)
def test_what_is_asked_wrongly_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], told: str
) -> None:
    write_lines(folder / "mine.jsonl", [{"query": "x", "relevant": ["a"]}])
    monkeypatch.chdir(folder)
    found = CliRunner().invoke(app, ["eval", "run", *arguments])
    assert found.exit_code == 2, found.stdout
    assert told in " ".join(found.stderr.split())
    assert not (folder / ".loom").exists()
