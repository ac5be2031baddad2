"""kill -9 in a move of vectors, before and after what its steps write: the next run finishes it, and nothing is off.

Each process finishes the move that the one before was killed in, looks, writes, and is killed in a move back.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import kill_reembed

Point = tuple[str, str, str]


def points(asked: Sequence[str]) -> list[Point]:
    """After the first and before the last statement of each name that changes something."""
    changes = Counter(name for name in asked if name.startswith(("insert.", "vectors.lower", "vectors.drop")))
    return [
        (name, str(number), when)
        for name, last in sorted(changes.items())
        for number, when in ((1, "after"), (last, "before"))
    ]


def run(directory: Path, models: Sequence[str], point: Sequence[str] = ()) -> dict[str, Any]:
    """One process; what it told, by its kind."""
    command = [sys.executable, kill_reembed.__file__, str(directory), *models, *point]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == (-signal.SIGKILL if point else 0), done.stderr
    told = {fact["kind"]: fact for fact in map(json.loads, done.stdout.splitlines())}
    assert told["found"]["wrong"] == []
    return told


def test_a_move_that_is_killed_anywhere_is_finished_by_the_next_run(tmp_path: Path) -> None:
    models = ["hash", "static"]
    asked = run(tmp_path / "store", models)["asked"]["names"]
    assert Counter(asked)["insert.memory_embeddings"] >= 3
    assert {"insert.namespaces", "insert.token_df", "insert.corpus_stats", "vectors.drop_others"} <= set(asked)
    tried = points(asked)
    for point in tried:
        models.reverse()
        told = run(tmp_path / "store", models, point)
        assert "asked" not in told, f"{point} was not reached"
    models.reverse()
    assert "asked" in run(tmp_path / "store", models)
    assert len(tried) >= 10
