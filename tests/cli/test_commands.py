"""The shell as a person runs it: real processes, each on a data directory of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from served import ENVIRONMENT, serving

BREAK_ROLL_UPS = """
import sys
from pathlib import Path
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.store import Insert
store = EmbeddedStore(Path(sys.argv[1]))
columns = ("org", "namespace", "plane", "docs", "length")
store.insert(Insert("corpus_stats", columns, (["dev"], ["docs"], ["fact"], [3], [40])))
store.close()
"""
NEWER_SCHEMA = """
import sys
from pathlib import Path
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.migrate import migrate
from loom_server.store.store import Statement
store = EmbeddedStore(Path(sys.argv[1]))
migrate(store)
store.command(Statement("newer", "INSERT INTO loom.schema_migrations VALUES (99, 'later', repeat('0', 64), now())"))
store.close()
"""


def loom(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """One command, its data and its messages."""
    command = [sys.executable, "-m", "loom_server.cli.main", *arguments]
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=240)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shell")


@pytest.fixture(scope="module")
def shown(folder: Path) -> subprocess.CompletedProcess[str]:
    """The first run of the demo."""
    return loom("demo", "--once", cwd=folder)


def test_the_demo_shows_what_it_says(shown: subprocess.CompletedProcess[str]) -> None:
    assert shown.returncode == 0, shown.stderr
    assert "Loaded team.jsonl: 1 file, 154 rows: 154 written" in shown.stderr
    assert shown.stdout.count("answered  ") == 3
    assert shown.stdout.count("abstained  below_threshold") == 1
    assert "\x1b" not in shown.stdout + shown.stderr


def test_a_second_demo_adds_nothing_and_shows_the_same(folder: Path, shown: subprocess.CompletedProcess[str]) -> None:
    again = loom("demo", "--once", "--json", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert again.stderr.count(" 0 written") == 2
    told = json.loads(again.stdout)
    assert [one["as_expected"] for one in told] == [True] * 4
    assert [one["answer"]["abstain"] for one in told] == [False, False, False, True]
    assert all(one["answer"]["results"][0]["memory_key"] in shown.stdout for one in told)


def test_doctor_finds_wrong_roll_ups_and_mends_them(folder: Path, shown: subprocess.CompletedProcess[str]) -> None:
    directory = str(folder / ".loom" / "demo")
    well = loom("doctor", "--json", "--data-dir", directory, cwd=folder)
    assert well.returncode == 0, well.stdout
    assert {one["name"] for one in json.loads(well.stdout)} == {
        "settings", "python", "engine package", "data directory", "disk", "lock", "engine", "migrations", "memories",
        "analyzer", "embedder", "embedding model", "vectors",
    }  # fmt: skip
    subprocess.run([sys.executable, "-c", BREAK_ROLL_UPS, directory], check=True, env=ENVIRONMENT, cwd=folder)
    ill = loom("doctor", "--data-dir", directory, cwd=folder)
    assert ill.returncode == 1
    assert "dev/docs" in ill.stdout
    assert "loom doctor --mend" in ill.stdout
    mended = loom("doctor", "--mend", "--data-dir", directory, cwd=folder)
    assert mended.returncode == 0, mended.stdout


def test_doctor_tells_why_the_service_would_not_start(folder: Path) -> None:
    where = ("--data-dir", str(folder / "newer"))
    subprocess.run([sys.executable, "-c", NEWER_SCHEMA, where[1]], check=True, env=ENVIRONMENT, cwd=folder)
    refused = loom("search", "x", *where, cwd=folder)
    assert refused.returncode == 1
    told = loom("doctor", "--json", *where, cwd=folder)
    assert told.returncode == 1
    (failed,) = [one for one in json.loads(told.stdout) if not one["ok"]]
    assert failed["name"] == "migrations"
    assert failed["detail"] in refused.stderr


def test_doctor_tells_what_an_embedder_lacks_before_the_first_start(tmp_path: Path) -> None:
    (tmp_path / "loom.toml").write_text('embedder = "openai"\n', encoding="utf-8")
    told = loom("doctor", "--json", cwd=tmp_path)
    assert told.returncode == 1
    (failed,) = [one for one in json.loads(told.stdout) if not one["ok"]]
    assert failed["name"] == "embedder"
    assert "set LOOM_EMBEDDER_API_KEY" in failed["detail"]


def test_a_server_that_is_told_to_end_ends_well(folder: Path) -> None:
    with serving(folder / "ended") as address:
        assert address.startswith("http://127.0.0.1:")


def test_commands_ask_a_running_server(folder: Path) -> None:
    directory = folder / "served"
    notes = folder / "notes"
    notes.mkdir()
    (notes / "lunch.md").write_text("# Lunch\n\nThe canteen serves soup on Mondays.\n")
    (notes / "bad.json").write_text("{")
    where = ("--data-dir", str(directory))
    with serving(directory, end=signal.SIGINT) as address:
        stored = loom("set", "deploy/window", "Deploys happen on Tuesdays.", "--tag", "deploy", *where, cwd=folder)
        assert (stored.returncode, stored.stdout) == (0, "deploy/window: stored, version 1\n")
        loaded = loom("ingest", str(notes), *where, cwd=folder)
        assert loaded.returncode == 1
        assert "1 written" in loaded.stdout
        assert loaded.stderr.startswith("failed: notes/bad.json:1: not JSON")
        found = loom("search", "When do deploys happen?", "--json", *where, cwd=folder)
        assert (found.returncode, json.loads(found.stdout)["results"][0]["memory_key"]) == (0, "deploy/window")
        first = loom("search", "canteen deploys", "--mode", "lexical", "--top-k", "1", *where, cwd=folder)
        assert first.returncode in (0, 3)
        told = first.stderr.splitlines()[-1]
        assert told.startswith("More rows: the same command with --page ")
        page = ("--page", told.rpartition(" ")[2])
        second = loom("search", "canteen deploys", "--mode", "lexical", *page, "--json", *where, cwd=folder)
        answer = json.loads(second.stdout)
        assert (answer["page_offset"], len(answer["results"]), answer["next_page"]) == (1, 1, None)
        assert answer["results"][0]["memory_key"] not in first.stdout
        other = loom("search", "canteen", "--mode", "lexical", *page, *where, cwd=folder)
        assert (other.returncode, other.stdout) == (2, "")
        assert "page" in other.stderr
        explained = loom("explain", "quantum chromodynamics", *where, cwd=folder)
        assert explained.returncode == 3
        assert "abstained  below_threshold" in explained.stdout
        refused = loom("search", "x", "--top-k", "500", *where, cwd=folder)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "top_k" in refused.stderr
        locked = loom("migrate", *where, cwd=folder)
        assert locked.returncode == 1
        assert address in locked.stderr
        checked = loom("doctor", *where, cwd=folder)
        assert checked.returncode == 0, checked.stdout
    after = loom("search", "soup", *where, cwd=folder)
    assert after.returncode == 0, after.stderr
    assert "notes/lunch.md#lunch/1" in after.stdout


def test_migrate_tells_what_it_applied(folder: Path) -> None:
    where = ("--json", "--data-dir", str(folder / "fresh"))
    first = json.loads(loom("migrate", *where, cwd=folder).stdout)
    assert first["applied"][0].startswith("0001")
    assert len(first["applied"]) == first["version"]
