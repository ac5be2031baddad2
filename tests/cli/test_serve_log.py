"""What `loom serve` says of itself: a real process, its log, its metrics and its settings from a file."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from served import ENVIRONMENT, free_port


def served(folder: Path, path: str, **variables: str) -> tuple[int, str, list[dict[str, Any]]]:
    """Status and text of one GET of a server that is then told to end, and the events of its log."""
    server = subprocess.Popen(
        [sys.executable, "-m", "loom_server.cli.main", "serve", "--json"],
        cwd=folder,
        env={**ENVIRONMENT, "LOOM_LOG_FORMAT": "json", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    try:
        address = json.loads("".join(iter(server.stdout.readline, "}\n")) + "}")["address"]
        try:
            with urllib.request.urlopen(address + path, timeout=30) as answer:
                status, text = answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read().decode()
    finally:
        server.send_signal(signal.SIGTERM)
        _, errors = server.communicate(timeout=60)
    assert server.returncode == 0, errors
    return status, text, [json.loads(line) for line in errors.splitlines() if line.startswith("{")]


def test_a_service_says_when_it_listens_is_ready_drains_and_has_stopped(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "loom.toml").write_text(f'port = {port}\nembedder = "hash"\n')
    status, text, events = served(tmp_path, "/metrics", LOOM_PROT="1", LOOM_DRAIN_GRACE_SECONDS="0")
    assert status == 200
    assert 'loom_build_info{backend="embedded",version="0.1.0"} 1.0' in text
    told = {event["event"]: event for event in events}
    assert [event["event"] for event in events] == ["unknown_setting", "listening", "ready", "draining", "stopped"]
    assert (told["unknown_setting"]["name"], told["unknown_setting"]["nearest"]) == ("LOOM_PROT", ["LOOM_PORT"])
    assert told["listening"]["port"] == port
    assert told["ready"]["address"] == f"http://127.0.0.1:{port}"
    assert list(told["ready"]["ms"]) == ["embedder", "analysis", "store", "migrate", "services"]
    for stage in told["ready"]["ms"]:
        assert f'loom_start_stage_seconds{{stage="{stage}"}}' in text


@pytest.mark.parametrize("level", ["warning", "error"])
def test_a_service_that_may_not_count_or_talk_does_neither(tmp_path: Path, level: str) -> None:
    variables = {"LOOM_PORT": str(free_port()), "LOOM_METRICS": "false", "LOOM_LOG_LEVEL": level}
    status, text, events = served(tmp_path, "/metrics", LOOM_EMBEDDER="hash", **variables)
    assert (status, json.loads(text)["detail"]["code"], events) == (404, "not_found", [])
