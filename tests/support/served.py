"""A real `loom serve` for tests: a process of its own on a directory of its own, told to end by a signal."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("LOOM_")}


def free_port() -> int:
    """A port that nothing listens on right now."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@contextmanager
def serving(
    directory: Path, port: int | None = None, end: signal.Signals = signal.SIGTERM, **settings: str
) -> Iterator[str]:
    """The address of a server on `directory` that can be used; `settings` are LOOM_ variables without their prefix.

    The signal `end` ends it, well and with its last word.
    """
    command = [sys.executable, "-m", "loom_server.cli.main", "serve", "--json", "--data-dir", str(directory)]
    given = {f"LOOM_{name.upper()}": value for name, value in {"drain_grace_seconds": "0", **settings}.items()}
    with TemporaryFile("w+", encoding="utf-8") as errors:
        server = subprocess.Popen(
            [*command, "--port", str(port or free_port())],
            cwd=directory.parent,
            env={**ENVIRONMENT, **given},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        assert server.stdout is not None
        try:
            told = "".join(iter(server.stdout.readline, "}\n")) + "}"
            yield json.loads(told)["address"]
        finally:
            server.send_signal(end)
            server.communicate(timeout=60)
        errors.seek(0)
        assert (server.returncode, errors.read().splitlines()[-1]) == (0, "Stopped.")
