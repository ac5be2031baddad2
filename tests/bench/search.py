"""Search over HTTP in namespaces of growing size, beside its floors and beside numpy + bm25s, in one run.

    python tests/bench/search.py [--sizes 1000 10000 100000 1000000] [--searches 100] [--clients 1 2 4 8 16]
        [--peer-up-to 100000] [--json FILE]

All namespaces lie in one store. The rows of those up to `WRITTEN` are written through the service, larger ones
are copies of these. Every question is new to the process; rows that earlier questions brought may be kept.

    floor    the very statements of such a search, bare and side by side as it runs them, an empty route,
             and the embedding
    ratio    median of the search ÷ sum of the floors; median of the search ÷ the peer's

The aims are 1.5 floors at 1,000 and 100,000 rows, and 3 peers at 100,000.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle
from pathlib import Path

from loom_client import wire
from loom_server.embed.choose import make_embedder
from loom_server.model.deadline import Deadline
from loom_server.service.open import open_services
from loom_server.service.services import Services
from loom_server.settings import Settings
from loom_server.store.passing import PassingStore
from loom_server.store.store import Columns, Statement, Store
from loom_server.store.together import together
from peer import Peer
from process import Caller, served
from rows import copy, questions, texts, write
from table import Figures, timed

MODE = "hybrid"
MODES = ("semantic", "rrf", "hybrid", "bm25_hybrid", "lexical")
WRITTEN = 100_000
WARM = 20


@dataclass(slots=True)
class Recording(PassingStore):
    """A store that writes down what a search reads, as rounds of statements that run side by side."""

    rounds: list[list[Statement]] = field(default_factory=list[list[Statement]])
    _running: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def query(self, statement: Statement, deadline: Deadline | None = None) -> Columns:
        with self._lock:
            if not self._running:
                self.rounds.append([])
            self._running += 1
            self.rounds[-1].append(statement)
        try:
            return self.store.query(statement, deadline)
        finally:
            with self._lock:
                self._running -= 1


def name_of(size: int) -> str:
    return f"rows{size}"


def load(folder: Path, sizes: Sequence[int]) -> list[str]:
    """Fill a store; answers with the rows that were written."""
    rows = texts(min(max(sizes), WRITTEN))
    services = open_services(Settings(data_dir=folder))
    for size in sizes:
        start = time.perf_counter()
        if size <= WRITTEN:
            write(services, name_of(size), rows[:size])
        else:
            copy(services, name_of(WRITTEN), name_of(size), size // WRITTEN)
        print(f"- {size:,} rows in {time.perf_counter() - start:.1f} s", flush=True)
    services.close()
    return rows


@contextmanager
def opened(folder: Path) -> Generator[Services]:
    services = open_services(Settings(data_dir=folder))
    try:
        yield services
    finally:
        services.close()


def floors(folder: Path, size: int, asked: Sequence[str], warm: Iterator[str], figures: Figures) -> float:
    """The floors of a search in one namespace; answers with the sum of their medians, in ms.

    As many questions are asked before as the service had been asked, so that as many rows are kept.
    """
    with opened(folder) as services, ThreadPoolExecutor(8) as executor:
        for _ in range(WARM + len(asked) * MODES.index(MODE)):
            _statements(services, size, next(warm))
        recorded = [_statements(services, size, question) for question in asked]
        store = services.searcher.store
        figures.times("floor: SELECT 1", timed(lambda: store.query(Statement("bench", "SELECT 1")), 200))
        bare = [sum(timed(partial(_replay, store, executor, rounds), 1)) for rounds in recorded]
        statements = figures.times("floor: its statements, bare, side by side", bare)
        embedder = make_embedder(Settings(embed_cache_size=0))
        ask = cycle(asked)
        embedding = figures.times("floor: embed a question", timed(lambda: embedder.query(next(ask)), 200))
    return statements + embedding


def _statements(services: Services, size: int, question: str) -> list[list[Statement]]:
    recording = Recording(services.searcher.store)
    own = replace(services, searcher=replace(services.searcher, store=recording))
    body = {"namespace": name_of(size), "query": question, "search_mode": MODE}
    own.search(wire.MemorySearchRequest.model_validate(body), Deadline(60))
    return recording.rounds


def _replay(store: Store, executor: Executor, rounds: Sequence[Sequence[Statement]]) -> None:
    for statements in rounds:
        together(executor, [partial(store.query, statement) for statement in statements])


def over_http(size: int, fresh: Iterator[str], searches: int, figures: Figures) -> tuple[float, float]:
    """Latency by mode and by stage; answers with the medians of `MODE` and of an empty route."""
    caller, space = Caller(), name_of(size)
    for _ in range(WARM):
        caller.search(space, next(fresh))
    route = figures.times("floor: an empty route", timed(caller.route, 200))
    medians: dict[str, float] = {}
    stages: dict[str, list[float]] = {}
    for mode in MODES:
        took: list[float] = []
        for _ in range(searches):
            start = time.perf_counter()
            answer = caller.search(space, next(fresh), search_mode=mode)
            took.append((time.perf_counter() - start) * 1000.0)
            if mode == MODE:
                for stage, spent in answer["retrieval_work"]["ms"].items():
                    stages.setdefault(stage, []).append(spent)
        medians[mode] = figures.times(f"`{mode}`", took)
    for stage, spent in stages.items():
        figures.times(f"`{MODE}`: stage {stage}", spent)
    return medians[MODE], route


def throughput(size: int, fresh: Iterator[str], clients: int, searches: int, figures: Figures) -> None:
    """Many callers at once."""
    asked = [[next(fresh) for _ in range(searches)] for _ in range(clients)]
    took: list[float] = []

    def run(mine: Sequence[str]) -> None:
        caller = Caller()
        own = [timed(partial(caller.search, name_of(size), question, search_mode=MODE), 1)[0] for question in mine]
        took.extend(own)

    threads = [threading.Thread(target=run, args=(mine,)) for mine in asked]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate = len(took) / (time.perf_counter() - start)
    figures.times(f"{clients} callers, {rate:.0f} searches a second", took)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--searches", type=int, default=100)
    parser.add_argument("--clients", nargs="+", type=int, default=[1, 2, 4, 8, 16])
    parser.add_argument("--peer-up-to", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="a store that an earlier run filled with the same sizes")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    options = parser.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        fill = not (folder / "loom.lock").exists()
        rows = load(folder, options.sizes) if fill else texts(min(max(options.sizes), WRITTEN))
        for size in options.sizes:
            measure(folder, rows[:size], size, options, figures)
    figures.save(options.json)


def measure(folder: Path, rows: Sequence[str], size: int, options: argparse.Namespace, figures: Figures) -> None:
    """Everything about one size."""
    figures.head(f"{size:,} rows in the namespace")
    many = max(10, options.searches // 2)
    needed = 2 * (WARM + options.searches * len(MODES)) + sum(options.clients) * many
    asked = questions(rows, needed + options.searches)
    fresh = iter(asked[options.searches :])
    with served(folder) as service:
        search, route = over_http(size, fresh, options.searches, figures)
        for clients in options.clients:
            throughput(size, fresh, clients, many, figures)
        memory = service.resident_mb()
    floor = floors(folder, size, asked[: options.searches], fresh, figures) + route
    if size <= options.peer_up_to:
        peer = Peer(rows, make_embedder(Settings(embed_cache_size=0)))
        ask = cycle(asked)
        plain = figures.times("peer: numpy + bm25s in process", timed(lambda: peer.search(next(ask)), options.searches))
    print()
    figures.figure(f"{size:,} rows: search ÷ floors", search / floor, "(aim 1.5 at 1,000 and 100,000)")
    if size <= options.peer_up_to:
        figures.figure(f"{size:,} rows: search ÷ peer", search / plain, "(aim 3 at 100,000)")
    figures.figure(f"{size:,} rows: start to the first answer", service.live_s, "s")
    figures.figure(f"{size:,} rows: start to ready", service.ready_s, "s")
    figures.figure(f"{size:,} rows: resident after the searches", memory, "MB")


if __name__ == "__main__":
    main()
