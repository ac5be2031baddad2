"""Writes through `MemoryWriter.write`, beside their floors.

    python tests/bench/write_rates.py [--directory DIR] [--singles 150] [--seconds 8] [--rows 10000] [--profile]

One memory at a time (a new key, a new value under a key, the same value again), eight threads
together, and a load in batches, each acknowledged with everything on disk. The floors are taken in
the same run on the same disk: a file of 2 kB with its fsync, a bare one-row insert into `memory`, and
one into each table that a write goes to, one after another. `--profile` adds the time in each of the
store's statements. Texts are drawn from a seeded vocabulary.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from loom_server.analysis.analyse import warm
from loom_server.embed.choose import make_embedder
from loom_server.errors import LoomError
from loom_server.ingest.judge import Version, judge
from loom_server.ingest.memory import MemoryWriter
from loom_server.ingest.projections import memory_rows, posting_rows, vector_rows
from loom_server.ingest.request import prepare
from loom_server.model.clock import RowIds, SystemClock
from loom_server.model.deadline import Deadline
from loom_server.model.memory import Draft
from loom_server.model.scope import Identity
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.migrate import migrate
from loom_server.store.statistics import CommitDelta, Statistics, roll_ups
from rows import SYLLABLES

COMMON = (
    "the deploy of service database team moved meeting report invoice customer release broken window review budget "
    "token cache queue worker node cluster region plan price ticket design colour branch build test error server"
).split()
PATIENCE_S = 120.0


class Texts:
    """Sentences of 12 to 30 words: half of them common, half from 4,000 made-up ones."""

    def __init__(self, seed: int = 7) -> None:
        self._draw = random.Random(seed)
        self._rare = ["".join(self._draw.choices(SYLLABLES, k=3)) for _ in range(4000)]

    def draft(self, namespace: str, key: str) -> Draft:
        words = [
            self._draw.choice(COMMON) if self._draw.random() < 0.5 else self._draw.choice(self._rare)
            for _ in range(self._draw.randint(12, 30))
        ]
        text = " ".join(words)
        return Draft(Identity("bench", namespace), key, f'"{text}"', text)


class Spans:
    """Seconds by statement name, while it is switched on."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)

    def __call__(self, name: str, seconds: float, rows: int, outcome: str) -> None:
        self.seconds[name].append(seconds)

    def show(self) -> None:
        for name, took in sorted(self.seconds.items(), key=lambda item: -sum(item[1])):
            print(f"    {name:32s} {len(took):5d} x {np.median(took) * 1000:7.1f} ms  = {sum(took):6.2f} s")


def show(name: str, took: list[float]) -> None:
    p50, p95 = np.percentile(np.array(took) * 1000, (50, 95))
    print(f"| {name} | {p50:.1f} | {p95:.1f} | {1 / np.mean(took):.0f} |", flush=True)


def timed(call: Callable[[int], object], times: int) -> list[float]:
    took: list[float] = []
    for index in range(times):
        start = time.perf_counter()
        call(index)
        took.append(time.perf_counter() - start)
    return took


def accepted(writer: MemoryWriter, drafts: list[Draft]) -> None:
    for answer in writer.write(drafts, Deadline(PATIENCE_S)):
        if isinstance(answer, LoomError):
            raise answer


def floors(store: EmbeddedStore, directory: Path, texts: Texts) -> None:
    clock, embedder = SystemClock(), make_embedder(Settings())
    ids = RowIds(clock)

    def version(index: int) -> tuple[Version, ...]:
        writes = prepare([texts.draft("floor", f"f{index}")], embedder, lambda org: None, "en")
        return judge(writes, {}, ids.next, clock.now()).versions

    def sync(index: int) -> None:
        with (directory / f"floor-{index}").open("wb") as file:
            file.write(b"x" * 2000)
            file.flush()
            os.fsync(file.fileno())

    versions = [version(index) for index in range(60)]
    model = embedder.identity.name
    counts = roll_ups([CommitDelta("bench", "floor", "fact", 1, 20, {f"t{i}": 1 for i in range(20)}, {})])

    def each_table(index: int) -> None:
        for insert in (vector_rows(versions[index], model), posting_rows(versions[index]), *counts):
            store.insert(insert)
        store.insert(memory_rows(versions[index]))

    show("floor: a file and its fsync", timed(sync, 60))
    show("floor: one row into `memory`", timed(lambda index: store.insert(memory_rows(versions[index])), 60))
    show("floor: one row into each of the five tables, in turn", timed(each_table, 60))


def singles(writer: MemoryWriter, texts: Texts, times: int) -> None:
    drafts = [texts.draft("single", f"k{index}") for index in range(times)]
    newer = [texts.draft("single", f"k{index}") for index in range(times)]
    show("`set` of a new key", timed(lambda index: accepted(writer, [drafts[index]]), times))
    show("`set` of a new value under a key", timed(lambda index: accepted(writer, [newer[index]]), times))
    show("`set` of the same value", timed(lambda index: accepted(writer, [newer[index]]), times))


def together(writer: MemoryWriter, texts: Texts, seconds: float, threads: int = 8) -> None:
    drafts = [[texts.draft(f"t{number}", f"k{index}") for index in range(3000)] for number in range(threads)]
    took: list[float] = []
    end = time.perf_counter() + seconds

    def run(number: int) -> None:
        for draft in drafts[number]:
            if time.perf_counter() > end:
                return
            took.extend(timed(lambda _, draft=draft: accepted(writer, [draft]), 1))

    start = time.perf_counter()
    running = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    rate = len(took) / (time.perf_counter() - start)
    p50, p95 = np.percentile(np.array(took) * 1000, (50, 95))
    print(f"| {threads} threads, one `set` at a time, together | {p50:.1f} | {p95:.1f} | {rate:.0f} |", flush=True)


def load(writer: MemoryWriter, texts: Texts, rows: int, batch: int) -> None:
    drafts = [texts.draft(f"load{batch}", f"k{index}") for index in range(rows)]
    start = time.perf_counter()
    took = timed(lambda index: accepted(writer, drafts[index * batch : (index + 1) * batch]), -(-rows // batch))
    rate = rows / (time.perf_counter() - start)
    p50, p95 = np.percentile(np.array(took) * 1000, (50, 95))
    print(f"| {rows} memories in batches of {batch} | {p50:.1f} | {p95:.1f} | {rate:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--directory", type=Path)
    parser.add_argument("--singles", type=int, default=150)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--profile", action="store_true")
    asked = parser.parse_args()
    warm()
    with tempfile.TemporaryDirectory(dir=asked.directory) as directory:
        measure(Path(directory), asked)


def measure(directory: Path, asked: argparse.Namespace) -> None:
    settings, texts = Settings(), Texts()
    store = EmbeddedStore(directory / "store")
    migrate(store)
    writer = MemoryWriter(store, make_embedder(settings), Statistics(store), SystemClock(), settings)

    @contextmanager
    def spans():
        told = Spans()
        stop = store.observe(told)
        yield
        stop()
        if asked.profile:
            told.show()

    print("| what | p50 ms | p95 ms | a second |\n|---|---|---|---|")
    accepted(writer, [texts.draft("warm", "k")])
    floors(store, directory, texts)
    for step in (
        lambda: singles(writer, texts, asked.singles),
        lambda: together(writer, texts, asked.seconds),
        lambda: load(writer, texts, asked.rows, 500),
        lambda: load(writer, texts, asked.rows, 1000),
    ):
        with spans():
            step()
    writer.close()
    store.close()


if __name__ == "__main__":
    main()
