"""A served process: it listens before it is ready, answers over the network, and ends cleanly on a signal."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

SERVE = """
from pathlib import Path
import sys
from loom_server.api.serve import listen, serve
from loom_server.service.open import open_services
from loom_server.settings import Settings

settings = Settings(data_dir=Path(sys.argv[1]), embedder="hash")
listening = listen("127.0.0.1", 0)
print(listening.getsockname()[1], flush=True)
serve(settings, lambda: open_services(settings), listening)
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves a new directory, and its address."""
    command = [sys.executable, "-c", SERVE, str(tmp_path / "data")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process, f"http://127.0.0.1:{process.stdout.readline().strip()}"
    process.kill()
    process.wait()
    process.stdout.close()


def statuses_until_ready(address: str) -> list[int]:
    """Statuses of `/health/ready`, asked until it is 200."""
    seen: list[int] = []
    ends = time.monotonic() + 60
    while time.monotonic() < ends and seen[-1:] != [200]:
        seen.append(httpx.get(f"{address}/health/ready").status_code)
        time.sleep(0.02)
    return seen


def test_it_listens_then_starts_then_serves_then_drains(served: tuple[subprocess.Popen[str], str]) -> None:
    process, address = served
    assert httpx.get(f"{address}/health/live", timeout=30).status_code == 200
    seen = statuses_until_ready(address)
    assert (seen[0], seen[-1], set(seen)) == (503, 200, {503, 200})
    with httpx.Client(base_url=address) as client:
        client.post("/v1/memory.set", json={"memory_key": "k", "value": "tea"})
        assert client.post("/v1/memory.get", json={"memory_key": "k"}).json()["value"] == "tea"
        assert client.post("/v1/memory.set", content=b"[" * 9_000_000, headers={"content-type": "application/json"})
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) in (0, -signal.SIGTERM)
