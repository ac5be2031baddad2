"""A `loom serve` process of its own, and plain kept-alive connections to it."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PORT = 7791


class Caller:
    """One connection."""

    def __init__(self) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", PORT)

    def search(self, namespace: str, query: str, **more: object) -> dict[str, Any]:
        """The answer of one search."""
        body = json.dumps({"namespace": namespace, "query": query, **more})
        self._connection.request("POST", "/v1/memory.search", body, {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {content[:300]!r}")
        return json.loads(content)

    def route(self, path: str = "/health/live") -> int:
        """The status of a plain GET."""
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        answer.read()
        return answer.status


class Served:
    """A running process, with what its start took."""

    def __init__(self, process: subprocess.Popen[bytes], live_s: float, ready_s: float) -> None:
        self.process = process
        self.live_s = live_s
        self.ready_s = ready_s

    def resident_mb(self) -> float:
        """What it holds in memory now."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


@contextmanager
def served(folder: Path, **settings: object) -> Generator[Served]:
    """The service on `folder` while the block runs."""
    environment = {**os.environ, "LOOM_DATA_DIR": str(folder), **{key: str(value) for key, value in settings.items()}}
    command = [sys.executable, "-m", "loom_server.cli.main", "serve", "--port", str(PORT)]
    start = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        live = _until("/health/live", start)
        yield Served(process, live, _until("/health/ready", start))
    finally:
        process.terminate()
        process.wait(30)


def _until(path: str, start: float) -> float:
    while time.perf_counter() - start < 120:
        try:
            if Caller().route(path) == 200:
                return time.perf_counter() - start
        except OSError:
            pass
        time.sleep(0.02)
    raise RuntimeError(f"{path} did not answer")
