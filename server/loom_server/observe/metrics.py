"""The metrics of one service, in a registry of its own: two services of a process count apart.

Label values are put into their closed sets here (`labels.py`), so no caller can make a series. Telling a
search costs about as much as a few look-ups in a dict a series; nothing is computed until it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.exposition import choose_encoder

from loom_server.errors import LoomError
from loom_server.observe import labels
from loom_server.observe.meters import METERS, Meter
from loom_server.observe.seen import SearchSeen, WriteSeen

# The time at which each series began would double their number, and says nothing that uptime does not.
disable_created_metrics()

Count = Callable[[int, int], None]
"""Told the hits and the misses of one look-up."""


def count_nothing(hits: int, misses: int) -> None:
    """Where nobody counts."""


class Series:
    """The series of one metric."""

    def __init__(self, meter: Meter, registry: CollectorRegistry) -> None:
        self._metric = _made(meter, registry)
        self._known = tuple(map(frozenset, meter.labels.values()))
        self._children: dict[tuple[str, ...], Any] = {}

    def of(self, *values: str) -> Any:
        """The series of these label values, each of them in its set, or `other`."""
        child = self._children.get(values)
        if child is not None:
            return child
        told = tuple(
            value if value in known else labels.OTHER for value, known in zip(values, self._known, strict=True)
        )
        child = self._metric.labels(*told) if told else self._metric
        if told == values:
            self._children[values] = child
        return child


class Metrics:
    """What a service counts; safe from many threads."""

    def __init__(self) -> None:
        self.registry: Final = CollectorRegistry()
        self._series = {meter.name: Series(meter, self.registry) for meter in METERS}

    def exposition(self, accept: str) -> tuple[bytes, str]:
        """All series as text, and its media type: OpenMetrics where `accept` asks for it."""
        encode, media_type = choose_encoder(accept)
        return encode(self.registry), media_type

    def searched(self, seen: SearchSeen) -> None:
        """A search has ended."""
        self._of("search_duration_seconds", seen.mode, seen.outcome).observe(seen.seconds)
        self._of("search_total", seen.mode, seen.outcome).inc()
        for leg in seen.legs:
            self._of("leg_duration_seconds", leg.leg, leg.state).observe(leg.milliseconds / 1000.0)
            self._of("leg_candidates", leg.leg).observe(len(leg.ids))
        for part in seen.degraded:
            leg, _, reason = part.partition(": ")
            self._of("leg_degraded_total", leg, labels.reason_of(reason)).inc()
        if seen.error is None:
            self._of("pool_size").observe(seen.pooled)
        if seen.abstain is not None:
            self._of("abstain_total", seen.abstain).inc()
        if seen.similarity is not None:
            self._of("top_similarity").observe(seen.similarity)

    def wrote(self, seen: WriteSeen) -> None:
        """A write operation has ended."""
        self._of("write_duration_seconds", seen.operation, seen.outcome).observe(seen.seconds)
        self._of("write_total", seen.operation, seen.outcome).inc()

    def group(self, rows: int) -> None:
        """A group of writes was committed."""
        self._of("write_group_rows").observe(rows)

    def statement(self, name: str, seconds: float, rows: int, outcome: str) -> None:
        """A statement has ended; an observer for `Store.observe`."""
        self._of("clickhouse_query_duration_seconds", name, outcome).observe(seconds)

    @contextmanager
    def embedding(self, provider: str, role: str) -> Generator[None]:
        """Time the embedder's work in the block, and count its failure."""
        start = perf_counter()
        try:
            yield
        except LoomError as error:
            self._of("embed_errors_total", provider, role, error.code).inc()
            raise
        finally:
            self._of("embed_duration_seconds", provider, role).observe(perf_counter() - start)

    def requested(self, provider: str) -> Callable[[str], None]:
        """What counts the requests to a remote embedder, by how they ended."""
        return lambda outcome: self._of("embed_requests_total", provider, outcome).inc()

    def endpoint(self, provider: str, left_alone: Callable[[], bool]) -> None:
        """Whether a remote embedder is left alone is asked whenever the metrics are."""
        self._of("embed_left_alone", provider).set_function(left_alone)

    def cache(self, name: str) -> Count:
        """What counts the look-ups of one cache."""
        hit, miss = (self._of("cache_requests_total", name, result) for result in labels.CACHE_RESULTS)

        def count(hits: int, misses: int) -> None:
            if hits:
                hit.inc(hits)
            if misses:
                miss.inc(misses)

        return count

    def answered(self, door: str, operation: str, status: int) -> None:
        """A door has answered."""
        self._of("requests_total", door, operation, str(status)).inc()

    def calls(self, lane: str, running: int, waiting: int) -> None:
        """How many calls hold or await a thread now."""
        self._of("requests_running", lane).set(running)
        self._of("requests_waiting", lane).set(waiting)

    def turned_away(self, lane: str) -> None:
        """A call found its lane full."""
        self._of("requests_turned_away_total", lane).inc()

    def swept(self, change: str, number: int) -> None:
        """What a sweep did."""
        self._of("sweep_versions_total", change).inc(number)

    def reembedded(self, rows: int, left: int) -> None:
        """A re-embedding has given these rows their vectors, and these are left."""
        self._of("reembed_rows_total").inc(rows)
        self._of("reembed_rows_left").set(left)

    def stage(self, name: str, milliseconds: float) -> None:
        """A stage of the start is done; a `Recorder`."""
        self._of("start_stage_seconds", name).set(milliseconds / 1000.0)

    def opened(self, backend: str, uptime: Callable[[], float], queued: Callable[[], int]) -> None:
        """The services are open; `uptime` and `queued` are asked whenever the metrics are."""
        self._of("build_info", *labels.VERSIONS, backend).set(1)
        self._of("uptime_seconds").set_function(uptime)
        self._of("write_queue_rows").set_function(queued)

    def pool(self, in_use: Callable[[], int]) -> None:
        """How many of the store's clients are in use is asked whenever the metrics are."""
        self._of("clickhouse_pool_in_use").set_function(in_use)

    def _of(self, name: str, *values: str) -> Any:
        return self._series[f"loom_{name}"].of(*values)


def _made(meter: Meter, registry: CollectorRegistry) -> Any:
    names = tuple(meter.labels)
    match meter.kind:
        case "counter":
            return Counter(meter.name, meter.about, names, registry=registry)
        case "gauge":
            return Gauge(meter.name, meter.about, names, registry=registry)
        case "histogram":
            return Histogram(meter.name, meter.about, names, registry=registry, buckets=meter.buckets)
