"""A sweep that did not finish is done again: what was acknowledged before the crash stays findable."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import interrupted_sweep


def run(directory: Path, step: str) -> dict[str, object]:
    command = [sys.executable, interrupted_sweep.__file__, str(directory), step]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return json.loads(done.stdout.splitlines()[-1])


def test_a_start_that_is_stopped_in_its_sweep_leaves_it_to_the_next(tmp_path: Path) -> None:
    keys = [f"k{number}" for number in range(interrupted_sweep.ROWS)]
    assert run(tmp_path, "crash") == {"acknowledged": len(keys)}
    assert run(tmp_path, "interrupted") == {"stopped": True}
    assert json.loads((tmp_path / "loom.lock").read_text())["clean"] is False
    assert run(tmp_path, "look") == {"found": keys}
    assert json.loads((tmp_path / "loom.lock").read_text())["clean"] is True
