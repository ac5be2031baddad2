"""SIGTERM: running calls end, new ones are told that the service stops, and the process ends well.

Each test has a process of its own, whose searches wait at a gate.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from served import ENVIRONMENT, free_port

SCRIPT = Path(__file__).resolve().parents[1] / "support" / "gated_server.py"
CALL = {"jsonrpc": "2.0", "id": 1, "method": "memory.get", "params": {"memory_key": "k"}}


@dataclass
class Held:
    """A process, a client of it, and its search that waits at the gate."""

    process: subprocess.Popen[str]
    client: httpx.Client
    search: Future[httpx.Response]

    def stop(self) -> None:
        """Send SIGTERM, and wait until the service says that it stops."""
        self.process.send_signal(signal.SIGTERM)
        while self.client.get("/health/ready").status_code == 200:
            assert self.process.poll() is None

    def open_the_gate(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()


@contextmanager
def held(tmp_path: Path, **settings: str) -> Iterator[Held]:
    """Such a process, with one search inside."""
    given = {f"LOOM_{name.upper()}": value for name, value in settings.items()}
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(tmp_path / "data")],
        cwd=tmp_path,
        env={**ENVIRONMENT, "LOOM_PORT": str(free_port()), "LOOM_LOG_LEVEL": "error", **given},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with (
            ThreadPoolExecutor(1) as executor,
            httpx.Client(base_url=process.stdout.readline().strip(), timeout=30) as client,
        ):
            client.post("/v1/memory.set", json={"memory_key": "k", "value": "tea"}).raise_for_status()
            search = executor.submit(client.post, "/v1/memory.search", json={"query": "tea"}, timeout=60)
            while 'loom_requests_running{lane="read"} 1.0' not in client.get("/metrics").text:
                assert not search.done()
            yield Held(process, client, search)
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def test_a_running_call_ends_well_and_a_new_one_is_told(tmp_path: Path) -> None:
    with held(tmp_path, drain_seconds="60", drain_grace_seconds="0") as it:
        it.stop()
        ready = it.client.get("/health/ready")
        assert (ready.status_code, ready.headers["Retry-After"]) == (503, "1")
        assert ready.json()["detail"]["message"] == "The service is stopping; send the call again."
        assert it.client.get("/health/live").status_code == 200
        assert it.client.get("/metrics").status_code == 200
        refused = it.client.post("/v1/memory.set", json={"memory_key": "late", "value": "coffee"})
        detail = refused.json()["detail"]
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        assert (detail["code"], detail["retryable"]) == ("not_ready", True)
        assert it.client.post("/rpc", json=CALL).json()["error"]["code"] == -32008
        assert not it.search.done()
        it.open_the_gate()
        answer = it.search.result(60)
        assert (answer.status_code, answer.json()["results"][0]["memory_key"]) == (200, "k")
        assert it.process.wait(60) == 0


def test_what_does_not_end_in_time_is_given_up_and_told_so(tmp_path: Path) -> None:
    with held(tmp_path, drain_seconds="0.5", drain_grace_seconds="0") as it:
        it.process.send_signal(signal.SIGTERM)
        answer = it.search.result(60)
        assert (answer.status_code, answer.json()["detail"]["code"]) == (503, "not_ready")
        assert answer.json()["detail"]["message"].startswith("The service stopped before the call had ended")
        assert it.process.wait(60) == 0


def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    with held(tmp_path, drain_seconds="3600", drain_grace_seconds="3600") as it:
        it.stop()
        assert not it.search.done()
        it.process.send_signal(signal.SIGTERM)
        assert it.search.result(60).status_code == 503
        assert it.process.wait(60) == 0
    with held(tmp_path) as again:
        assert again.client.post("/v1/memory.get", json={"memory_key": "k"}).json()["value"] == "tea"


def test_the_port_stays_open_for_the_grace_though_nothing_runs(tmp_path: Path) -> None:
    with held(tmp_path, drain_grace_seconds="3600") as it:
        it.open_the_gate()
        assert it.search.result(60).status_code == 200
        it.stop()
        for _ in range(10):
            assert it.client.get("/health/ready").status_code == 503
        it.process.send_signal(signal.SIGINT)
        assert it.process.wait(60) == 0
