"""`loom reembed` as a person runs it: alone, beside a server, and against Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from served import ENVIRONMENT, serving

ROWS = 8_000


def loom(*arguments: str, cwd: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """One command under these LOOM_ variables."""
    command = [sys.executable, "-m", "loom_server.cli.main", *arguments]
    given = {f"LOOM_{name.upper()}": value for name, value in settings.items()}
    return subprocess.run(
        command, cwd=cwd, env={**ENVIRONMENT, **given}, capture_output=True, text=True, check=False, timeout=240
    )


def failed_checks(cwd: Path, *where: str, **settings: str) -> dict[str, str]:
    """What the doctor finds wrong, and its mends."""
    told = json.loads(loom("doctor", "--json", *where, cwd=cwd, **settings).stdout)
    return {one["name"]: one["mend"] for one in told if not one["ok"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `.loom` holds three memories under the default embedder."""
    there = tmp_path_factory.mktemp("moved")
    texts = ("Ana leads the storage team", "The canteen serves soup", "Deploys go out on Tuesdays")
    lines = [json.dumps({"memory_key": f"k{number}", "value": text}) for number, text in enumerate(texts)]
    (there / "notes.jsonl").write_text("\n".join(lines))
    assert loom("ingest", "notes.jsonl", cwd=there).returncode == 0
    return there


def test_what_is_stale_is_told_counted_moved_and_done(folder: Path) -> None:
    mends = failed_checks(folder, embedder="hash")
    assert set(mends) == {"embedding model", "vectors"}
    assert mends["vectors"] == "loom reembed"
    counted = loom("reembed", "--dry-run", cwd=folder, embedder="hash")
    assert (counted.returncode, counted.stdout) == (
        0,
        "3 rows of 1 org, 75 characters, would be embedded with loom:hash:256:1.\n",
    )
    moved = loom("reembed", "--json", cwd=folder, embedder="hash")
    told = json.loads(moved.stdout)
    assert (moved.returncode, told["state"], told["rows_done"], told["rows_left"]) == (0, "done", 3, 0)
    assert failed_checks(folder, embedder="hash") == {}
    assert loom("reembed", cwd=folder, embedder="hash").stdout == (
        "Nothing to do: every row has a vector of loom:hash:256:1.\n"
    )
    elsewhere = loom("reembed", "--org", "nobody", cwd=folder)
    assert elsewhere.stdout.startswith("Nothing to do")
    assert loom("reembed", "--org", "dev", cwd=folder).stdout.startswith("3 rows embedded with wordllama:")


def test_a_running_server_does_the_work_with_its_own_embedder(folder: Path) -> None:
    with serving(folder / ".loom", embedder="hash") as address:
        before = httpx.get(f"{address}/v1/health").json()
        assert (before["stale_rows"], before["reembedding"]) == (3, "idle")
        assert set(failed_checks(folder)) == {"vectors"}
        moved = loom("reembed", cwd=folder)
        assert (moved.returncode, moved.stdout) == (0, "3 rows embedded with loom:hash:256:1, 1 org finished.\n")
        after = httpx.get(f"{address}/v1/health").json()
        assert (after["stale_rows"], after["reembedding"]) == (0, "done")
    assert loom("reembed", cwd=folder).returncode == 0


def many(folder: Path) -> Path:
    """A directory with many rows under the embedder `hash`."""
    directory = folder / "many"
    items = [{"memory_key": f"k{number}", "value": f"fox {number} of {number % 97}"} for number in range(ROWS)]
    with serving(directory, embedder="hash") as address, httpx.Client(base_url=address, timeout=120) as client:
        for start in range(0, ROWS, 1_000):
            client.post("/v1/memory.set_many", json={"items": items[start : start + 1_000]}).raise_for_status()
    return directory


def test_an_interrupt_stops_the_servers_run_and_the_next_one_goes_on(folder: Path) -> None:
    directory = many(folder)
    where = ("--data-dir", str(directory))

    def status(client: httpx.Client) -> dict[str, Any]:
        return client.post("/v1/ops.reembed", json={}).json()

    with serving(directory, embedder="static") as address, httpx.Client(base_url=address, timeout=60) as client:
        command = [sys.executable, "-m", "loom_server.cli.main", "reembed", *where]
        running = subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while status(client)["rows_done"] == 0:
            assert time.monotonic() < until
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        assert running.communicate(timeout=60)[1].splitlines()[-1] == "Stopped."
        assert running.returncode == 130
        while (stopped := status(client))["state"] == "running":
            time.sleep(0.05)
        assert stopped["state"] == "cancelled"
        assert 0 < stopped["rows_done"] < ROWS
        client.post("/v1/ops.reembed", json={"action": "start"}).raise_for_status()
    # The signal that ended the server ended the run as well, whatever was left.
    moved = json.loads(loom("reembed", "--json", *where, cwd=folder).stdout)
    assert (moved["state"], moved["rows_left"]) == ("done", 0)
    assert moved["rows_total"] <= ROWS - stopped["rows_done"]
    assert failed_checks(folder, *where) == {}
