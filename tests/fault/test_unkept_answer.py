"""A process that dies after the commit of a named write and before its answer is kept: the repeat is done, and changes
nothing."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from served import ENVIRONMENT, free_port, serving

SCRIPT = Path(__file__).resolve().parents[1] / "support" / "gated_server.py"
BODY = {"memory_key": "k", "value": "tea"}
KEY = {"Idempotency-Key": "a"}


def test_a_repeat_after_the_crash_finds_its_own_write(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(directory), "insert.idempotency"],
        cwd=tmp_path,
        env={**ENVIRONMENT, "LOOM_PORT": str(free_port()), "LOOM_LOG_LEVEL": "error"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    with ThreadPoolExecutor(1) as executor, httpx.Client(base_url=address, timeout=30) as client:
        first = executor.submit(client.post, "/v1/memory.set", json=BODY, headers=KEY)
        while not client.post("/v1/memory.get", json={"memory_key": "k"}).json()["found"]:
            assert not first.done()
        process.kill()
        process.wait()
        with pytest.raises(httpx.TransportError):
            first.result(30)
    process.stdin.close()
    process.stdout.close()
    with serving(directory, embedder="hash") as address, httpx.Client(base_url=address) as client:
        again = client.post("/v1/memory.set", json=BODY, headers=KEY)
        assert (again.status_code, again.json()["version"], again.json()["noop"]) == (200, 1, True)
        assert client.post("/v1/memory.set", json=BODY, headers=KEY).content == again.content
        assert client.post("/v1/memory.set", json={**BODY, "value": "w"}, headers=KEY).status_code == 409
