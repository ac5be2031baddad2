"""kill -9 at any moment: no acknowledged write is lost, and nothing half done is left after the next start.

A process writes into a directory and is killed: at random moments while four threads write, and before and
after every statement of a cycle of writes (a new key, a new value, a delete, and the settling of them), so
between each pair of inserts too. The next process sweeps and looks before it writes, and is killed in turn.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import kill_writer

RANDOM_KILLS, SWEEP_STATEMENTS = 6, (3, 8, 11)
LEAST_KILLS = 30


@dataclass(slots=True)
class Laboratory:
    """One data directory, what its processes were answered, and how many of them were killed."""

    directory: Path
    values: dict[str, list[str | None]] = field(default_factory=dict[str, list[str | None]])
    rows: dict[str, str] = field(default_factory=dict[str, str])
    kills: int = 0

    @contextmanager
    def process(self, *mode: str) -> Iterator[tuple[subprocess.Popen[str], Iterator[dict[str, Any]]]]:
        """The next process, and the facts that it tells."""
        pledges = self.directory / "pledges.json"
        pledges.write_text(json.dumps({"values": self.values, "rows": self.rows}))
        command = [sys.executable, kill_writer.__file__, str(self.directory / "store"), str(pledges), *mode]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout
            yield running, (self.heard(json.loads(line)) for line in running.stdout)
            running.kill()
        self.kills += running.returncode == -signal.SIGKILL

    def heard(self, fact: dict[str, Any]) -> dict[str, Any]:
        """Remember what was begun and what was acknowledged."""
        match fact["kind"]:
            case "means":
                self.values.setdefault(fact["key"], [None]).append(fact["value"])
            case "done":
                self.values[fact["key"]] = [fact["value"]]
                self.rows[fact["row"]] = fact["value"] or ""
            case "found":
                assert fact["wrong"] == []
        return fact

    def run(self, *mode: str) -> list[dict[str, Any]]:
        """A process to its end, which is its own doing."""
        with self.process(*mode) as (running, facts):
            told = list(facts)
            running.wait(60)
        assert running.returncode in (0, -signal.SIGKILL), f"{mode} ended with {running.returncode}"
        return told

    def storm(self, seconds: float) -> int:
        """A process that is killed `seconds` after its first answer; answers with how many it gave."""
        with self.process("storm") as (running, facts):
            begun, done = None, 0
            for fact in facts:
                done += fact["kind"] == "done"
                begun = begun or (time.monotonic() if done else None)
                if begun and time.monotonic() - begun > seconds:
                    running.kill()
        return done


def points(asked: Sequence[str]) -> list[tuple[str, str, str]]:
    """Before each statement, and after each that changes something."""
    seen: Counter[str] = Counter()
    found: list[tuple[str, str, str]] = []
    for name in asked:
        seen[name] += 1
        changes = name.startswith(("insert.", "versions."))
        found += [(name, str(seen[name]), when) for when in ("before", "after")[: 1 + changes]]
    return found


def test_nothing_acknowledged_is_lost_and_nothing_is_half_there(tmp_path: Path) -> None:
    laboratory = Laboratory(tmp_path)
    (asked,) = (fact["names"] for fact in laboratory.run("cycle") if fact["kind"] == "asked")
    tables = ("insert.memory", "insert.memory_embeddings", "insert.postings", "insert.token_df", "insert.corpus_stats")
    assert set(tables) <= set(asked)
    assert laboratory.kills == 0
    for point in points(asked):
        laboratory.run("cycle", *point)
    dice = random.Random(7)
    answered = [laboratory.storm(dice.uniform(0.0, 0.6)) for _ in range(RANDOM_KILLS)]
    assert all(answered)
    for number in SWEEP_STATEMENTS:
        laboratory.storm(0.2)
        laboratory.run("sweep", str(number))
    assert laboratory.kills == len(points(asked)) + RANDOM_KILLS + 2 * len(SWEEP_STATEMENTS) >= LEAST_KILLS
    unclean, clean = laboratory.run("look"), laboratory.run("look")
    assert [fact["clean"] for fact in (*unclean, *clean)] == [False, True]
    assert sum(value is not None for values in laboratory.values.values() for value in values) > LEAST_KILLS
