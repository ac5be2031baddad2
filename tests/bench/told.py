"""What telling costs a search: the same searches with metrics and log, with metrics alone, and with neither.

    python tests/bench/told.py [--rows 1000] [--searches 600]

The ways take turns search by search, in an order by chance, so that what else the machine does meets all of them
alike; each has services and caches of its own over the one store, warmed by the same questions. The calls that tell
are timed by themselves, too, since a search varies by more than they cost. The log is rendered as JSON into a file.
The statements are told in every way: an observer of a store sees all of them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import median, quantiles
from time import perf_counter

from loom_client import wire
from loom_server.embed.choose import make_embedder
from loom_server.model.candidate import LegResult
from loom_server.model.deadline import Deadline
from loom_server.observe import logs
from loom_server.observe.labels import LEGS
from loom_server.observe.metrics import Metrics
from loom_server.observe.seen import SearchSeen
from loom_server.service.open import assemble, open_services
from loom_server.service.services import Services
from loom_server.settings import Settings
from rows import write

WORDS = "deploy canteen soup review pager database pool orders token cache window budget design".split()
SEEN = SearchSeen(
    "dev", "local", "semantic", "answered", 0.012,
    tuple(LegResult(leg, "ok", tuple(range(100)), milliseconds=5.0) for leg in LEGS), 150, 10, None, (), 0.6,
)  # fmt: skip


def sentence(row: int) -> str:
    """A few words."""
    return f"The {WORDS[row % 13]} of {WORDS[row // 13 % 13]} number {row} is set."


def timed(services: Services, number: int) -> float:
    """Milliseconds of one search."""
    request = wire.MemorySearchRequest(query=f"which {WORDS[number % 13]} of {WORDS[number // 13 % 13]} is set?")
    start = perf_counter()
    services.search(request, Deadline(30.0))
    return (perf_counter() - start) * 1000.0


def compare(ways: dict[str, tuple[Services, logs.LogLevel]], searches: int) -> dict[str, list[float]]:
    """Milliseconds of each search by each way, in turns."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    chance = Random(7)
    for number in range(searches):
        for name, (services, level) in chance.sample(sorted(ways.items()), len(ways)):
            logs.configure("json", level)
            found[name].append(timed(services, number))
    return found


class Timed(Metrics):
    """Metrics that note the microseconds of each telling inside a real search."""

    def __init__(self) -> None:
        super().__init__()
        self.took: list[float] = []

    def searched(self, seen: SearchSeen) -> None:
        start = perf_counter()
        super().searched(seen)
        self.took.append((perf_counter() - start) * 1e6)


def alone(tell: Callable[[], object]) -> float:
    """Median microseconds of one call."""
    took: list[float] = []
    for _ in range(3_000):
        start = perf_counter()
        tell()
        took.append((perf_counter() - start) * 1e6)
    return median(took)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--searches", type=int, default=600)
    options = parser.parse_args()
    screen, metrics, hasher = sys.stdout, Timed(), logs.Hasher()
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w") as log:
        settings = Settings(data_dir=Path(folder) / "store")
        plain = open_services(settings)
        write(plain, "local", list(map(sentence, range(options.rows))))
        counting, logging = (
            assemble(plain.searcher.store, make_embedder(settings, one), settings, metrics=one)
            for one in (metrics, Metrics())
        )
        sys.stderr = log
        ways: dict[str, tuple[Services, logs.LogLevel]] = {
            "neither": (plain, "warning"),
            "metrics": (counting, "warning"),
            "metrics and log": (logging, "info"),
        }
        compare(ways, len(WORDS) ** 2)
        found = compare(ways, options.searches)
        print(f"{options.rows} rows, {options.searches} searches a way", file=screen)
        for name, took in found.items():
            quarters = quantiles(took, n=4)
            print(f"{name:16} median {median(took):.3f} ms, quartiles {quarters[0]:.3f} {quarters[2]:.3f}", file=screen)
        for name in ("metrics", "metrics and log"):
            pairs = [with_it - without for with_it, without in zip(found[name], found["neither"], strict=True)]
            print(f"{name:16} median of the differences {median(pairs) * 1000:.0f} us", file=screen)
        print(f"metrics of a search inside it {median(metrics.took):.0f} us", file=screen)
        logs.configure("json", "info")
        print(f"metrics of a search alone {alone(lambda: metrics.searched(SEEN)):.0f} us", file=screen)
        print(f"event of a search alone   {alone(lambda: logs.searched(SEEN, hasher)):.0f} us", file=screen)
        statement = alone(lambda: metrics.statement("leg.fact", 0.005, 100, "ok"))
        print(f"one statement alone       {statement:.1f} us", file=screen)
        sys.stderr = sys.__stderr__
        for services in (counting, logging):
            services.writer.close()
            services.searcher.executor.shutdown()
        plain.close()


if __name__ == "__main__":
    main()
