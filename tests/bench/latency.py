"""Search over HTTP on a small namespace in an empty and in a full table, beside its floors.

    python tests/bench/latency.py [--rows 1000] [--others 1000000] [--searches 400] [--clients 8]

A namespace of `--rows` is written through the service; then the same rows are copied into
other namespaces until the tables hold `--others` rows more. Each measurement stands next
to floors taken in the same run: the bare statements of a search, `SELECT 1`, an empty
route, and the embedding of the query. Texts are drawn from a seeded vocabulary.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from loom_client import wire
from loom_server.embed.choose import make_embedder
from loom_server.model.deadline import Deadline
from loom_server.service.open import open_services
from loom_server.service.services import Services
from loom_server.settings import Settings
from loom_server.store.store import Statement

SYLLABLES = ("ka", "ro", "mi", "ten", "sol", "ver", "da", "lin", "po", "gra", "shu", "ne", "bor", "tis", "um", "fe")
COMMON = (
    "the deploy of service database team moved meeting report invoice customer release broken window review budget "
    "token cache queue worker node cluster region plan price ticket design colour branch build test error server"
).split()
PORT = 7791
COPIES = (
    ("memory", "id"),
    ("memory_embeddings", "id"),
    ("postings", "id"),
    ("token_df", None),
    ("corpus_stats", None),
)


def texts(count: int, seed: int = 7) -> list[str]:
    """Sentences of 12 to 30 words: half of them common, half from 4,000 made-up ones."""
    draw = random.Random(seed)
    rare = ["".join(draw.choices(SYLLABLES, k=3)) for _ in range(4000)]
    return [
        " ".join(draw.choice(COMMON) if draw.random() < 0.5 else draw.choice(rare) for _ in range(draw.randint(12, 30)))
        for _ in range(count)
    ]


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def show(name: str, values: list[float]) -> None:
    """One line: median, p95 and p99 in milliseconds."""
    shares = [percentile(values, share) * 1000 for share in (0.5, 0.95, 0.99)]
    print(f"| {name} | {shares[0]:.1f} | {shares[1]:.1f} | {shares[2]:.1f} |", flush=True)


def timed(call: Callable[[], object], times: int) -> list[float]:
    took: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        took.append(time.perf_counter() - start)
    return took


def write(services: Services, rows: list[str]) -> None:
    for start in range(0, len(rows), 500):
        items = [{"memory_key": f"note/{start + i}", "value": text} for i, text in enumerate(rows[start : start + 500])]
        services.set_many(wire.MemorySetManyRequest.model_validate({"namespace": "mine", "items": items}), Deadline(60))


def copy(services: Services, rows: int, others: int) -> None:
    """Copy the namespace's rows into others; ids are shifted so that they stay unique."""
    for table, shifted in COPIES:
        columns = services.searcher.store.query(
            Statement("bench", f"SELECT name FROM system.columns WHERE database = 'loom' AND table = '{table}'")
        ).column("name")
        picks = [
            "concat('other', toString(copy)) AS namespace"
            if name == "namespace"
            else f"{name} + (copy + 1) * 10000000000 AS {name}"
            if name == shifted
            else str(name)
            for name in columns
        ]
        for start in range(0, others // rows, 200):
            count = min(200, others // rows - start)
            services.searcher.store.command(
                Statement(
                    "bench",
                    f"INSERT INTO loom.{table} ({', '.join(map(str, columns))})"
                    f" SELECT {', '.join(picks)} FROM loom.{table} AS source"
                    f" CROSS JOIN (SELECT number + {start} AS copy FROM numbers({count})) AS copies"
                    f" WHERE source.namespace = 'mine'",
                )
            )


class Caller:
    """One kept-alive connection."""

    def __init__(self) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", PORT)

    def search(self, query: str, **more: object) -> dict[str, object]:
        body = json.dumps({"namespace": "mine", "query": query, **more})
        self._connection.request("POST", "/v1/memory.search", body, {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {content[:300]!r}")
        return json.loads(content)

    def live(self) -> None:
        self._connection.request("GET", "/health/live")
        self._connection.getresponse().read()


def serve(folder: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "LOOM_DATA_DIR": folder}
    command = [sys.executable, "-m", "loom_server.cli.main", "serve", "--port", str(PORT)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(300):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", PORT)
            connection.request("GET", "/health/ready")
            if connection.getresponse().status == 200:
                return process
        except OSError:
            pass
        time.sleep(0.1)
    raise RuntimeError("the service did not get ready")


def over_http(folder: str, questions: list[str], clients: int, searches: int, name: str) -> None:
    """Latency of one caller by mode, then throughput of many."""
    process = serve(folder)
    try:
        caller = Caller()
        for question in questions[:40]:
            caller.search(question)
        for mode in ("semantic", "rrf", "hybrid", "bm25_hybrid", "lexical"):
            asked = iter(questions * 10)
            show(
                f"{name}: `{mode}` over HTTP",
                timed(lambda asked=asked, mode=mode: caller.search(next(asked), search_mode=mode), searches),
            )
        stages: dict[str, list[float]] = {}
        for question in questions[:100]:
            work = caller.search(question)["retrieval_work"]
            for stage, took in work["ms"].items():  # type: ignore[index,call-overload]
                stages.setdefault(stage, []).append(took / 1000)
        for stage, took in stages.items():
            show(f"{name}: stage {stage}", took)
        show(f"{name}: empty route", timed(caller.live, 200))
        many(questions, clients, searches, name)
    finally:
        process.terminate()
        process.wait(20)


def many(questions: list[str], clients: int, searches: int, name: str) -> None:
    took: list[float] = []

    def run(offset: int) -> None:
        caller = Caller()
        mine = questions[offset:] + questions[:offset]
        own: list[float] = []
        for number in range(searches // 2):
            start = time.perf_counter()
            caller.search(mine[number % len(mine)])
            own.append(time.perf_counter() - start)
        took.extend(own)

    threads = [threading.Thread(target=run, args=(number * 17,)) for number in range(clients)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate = len(took) / (time.perf_counter() - start)
    show(f"{name}: {clients} clients, {rate:.0f} searches a second", took)


def floors(services: Services, questions: list[str]) -> None:
    """What a search cannot do without, called bare."""
    embedder = make_embedder(Settings(embed_cache_size=0))
    asked = iter(questions * 10)
    show("floor: embed a query", timed(lambda: embedder.query(next(asked)), 200))
    store = services.searcher.store
    show("floor: SELECT 1", timed(lambda: store.query(Statement("bench", "SELECT 1")), 200))
    counted = Statement("bench", "SELECT count() FROM loom.memory_embeddings WHERE org = 'dev' AND namespace = 'mine'")
    show("floor: count one namespace", timed(lambda: store.query(counted), 100))
    asked = iter(questions * 10)

    def direct() -> None:
        request = wire.MemorySearchRequest.model_validate({"namespace": "mine", "query": next(asked)})
        services.search(request, Deadline(10))

    show("the search in process, no HTTP", timed(direct, 200))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--others", type=int, default=1_000_000)
    parser.add_argument("--searches", type=int, default=400)
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args()
    rows = texts(options.rows)
    draw = random.Random(11)
    questions = [" ".join(draw.sample(draw.choice(rows).split(), 6)) for _ in range(300)]
    with tempfile.TemporaryDirectory() as folder:
        services = open_services(Settings(data_dir=Path(folder)))
        start = time.perf_counter()
        write(services, rows)
        print(f"{options.rows} rows written in {time.perf_counter() - start:.2f} s")
        print("\n| what | median ms | p95 | p99 |\n|---|---|---|---|")
        floors(services, questions)
        services.close()
        over_http(folder, questions, options.clients, options.searches, "alone")
        services = open_services(Settings(data_dir=Path(folder)))
        copy(services, options.rows, options.others)
        floors(services, questions)
        services.close()
        over_http(folder, questions, options.clients, options.searches, f"among {options.others:,}")


if __name__ == "__main__":
    main()
