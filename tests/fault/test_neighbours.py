"""A process on a shared server dies at any statement; another, which goes on writing, sweeps after it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from uuid import uuid4

import kill_neighbour
from loom_server.ingest.memory import MemoryWriter
from loom_server.keep.neighbours import Neighbours
from loom_server.model.clock import SystemClock
from loom_server.settings import Settings
from loom_server.store.namespaces import Namespaces
from loom_server.store.process import Process
from loom_server.store.rollups import Tokenizer
from loom_server.store.server import ServerStore
from loom_server.store.statistics import Statistics
from writing import HASH, a_draft, settle, sound, versions, write

POINTS = (
    ("insert.claims", 1, "after"),
    ("insert.postings", 1, "after"),
    ("insert.memory", 1, "after"),
    ("versions.supersede", 1, "after"),
    ("versions.lower_postings", 1, "after"),
    ("insert.token_df", 1, "after"),
    ("insert.memory", 2, "after"),
)
"""Statements of the cycle, each with what it leaves."""


def cycle(url: str, org: str, *point: str) -> list[str]:
    """A process that ends by a kill; answers with its statements where it got to the end."""
    command = [sys.executable, kill_neighbour.__file__, url, org, *point]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=120, check=False)
    assert ended.returncode == -signal.SIGKILL
    return json.loads(ended.stdout or "[]")


def test_whatever_a_dead_process_left_is_swept_by_one_that_lives(server_url: str, server: ServerStore) -> None:
    clock, statistics = SystemClock(), Statistics(server)
    process = Process.join(server, clock, 30.0)
    assert process.claims is not None
    assert process.membership is not None
    tokenizer = Tokenizer(HASH.identity.name, HASH.tokens)
    broom = Neighbours(server, process.membership.number, process.claims, clock, tokenizer, quiet_s=0.0)
    writer = MemoryWriter(server, HASH, statistics, clock, Settings(), Namespaces(server, process))
    assert {name for name, _, _ in POINTS} <= set(cycle(server_url, f"org-{uuid4().hex[:12]}"))
    did: Counter[str] = Counter()
    for name, occurrence, when in POINTS:
        point, org = f"{when} {name}", f"org-{uuid4().hex[:12]}"
        assert cycle(server_url, org, name, str(occurrence), when) == []
        # Another's group, whose roll-ups are owed, in the middle of the sweep.
        write(writer, a_draft(f"{org}-other"))
        reports = broom.sweep(0.0)
        assert all(report.busy == () for report in reports), point
        for report in reports:
            did.update(dropped=report.dropped, superseded=report.superseded, lowered=report.lowered)
            did.update(mended=len(report.mended))
        assert sound(server, org), point
        live = {key for key, _, status in versions(server, org) if status == "live"}
        assert live in ({"a", "b"}, {"a", "b", "c"}, {"a", "c"}), point
        settle(writer)
        assert sound(server, f"{org}-other"), point
    assert all(did[change] for change in ("dropped", "superseded", "lowered", "mended"))
    assert broom.sweep(0.0) == []
    writer.close()
    process.close()
