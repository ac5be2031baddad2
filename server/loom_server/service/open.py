"""Opens a service: the store, its schema, what a crash left, the embedder, the write path.

The sweep runs only where the owner before did not close cleanly, and before any write.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import structlog

from loom_server.analysis.analyse import warm
from loom_server.embed.base import Embedder
from loom_server.embed.choose import make_embedder
from loom_server.engine.search import Searcher
from loom_server.ingest.memory import MemoryWriter
from loom_server.keep.neighbours import Neighbours
from loom_server.keep.sweep import sweep
from loom_server.model.clock import Clock, SystemClock
from loom_server.observe.logs import Hasher
from loom_server.observe.metrics import Count, Metrics, count_nothing
from loom_server.observe.stages import Stages
from loom_server.service.once import Once
from loom_server.service.patrol import Patrol
from loom_server.service.services import Services
from loom_server.service.tenants import DEFAULT_LANGUAGE
from loom_server.service.watch import Watch
from loom_server.settings import Settings
from loom_server.store.choose import AnyStore, open_store
from loom_server.store.idempotency import Answers
from loom_server.store.kept import KeptRows
from loom_server.store.migrate import migrate
from loom_server.store.namespaces import Namespaces
from loom_server.store.process import Process
from loom_server.store.rollups import Tokenizer
from loom_server.store.statistics import SHARED_VOCABULARY, WHOLE_VOCABULARY, Statistics
from loom_server.store.store import OTHERS_SEEN_S, Pooled, Store

_log = structlog.get_logger(__name__)


def open_services(
    settings: Settings,
    metrics: Metrics | None = None,
    stages: Stages | None = None,
    embedder: Embedder | None = None,
) -> Services:
    """The service on the store that the settings name; `stages` is told which stage runs.

    An `embedder` that is given stands in for the one that the settings name. Raises `StoreLocked` where another
    process owns the directory, `MigrationEdited`, `ConfigError` where the embedder cannot be loaded.
    """
    stages = stages or Stages()
    if embedder is None:
        with stages.during("embedder"):
            embedder = make_embedder(settings, metrics)
    with stages.during("analysis"):
        warm(DEFAULT_LANGUAGE)
    with stages.during("store"):
        store = open_store(settings)
    try:
        with stages.during("migrate"):
            migrate(store)
        if not store.was_clean:
            with stages.during("sweep"):
                _sweep(store, embedder, metrics)
        with stages.during("services"):
            return assemble(store, embedder, settings, metrics=metrics)
    except BaseException:
        store.close()
        raise


def _sweep(store: AnyStore, embedder: Embedder, metrics: Metrics | None) -> None:
    """Finish what a crash left; what another embedder must finish stays for its next start."""
    swept = sweep(store, embedder)
    did = {
        "dropped": swept.dropped,
        "superseded": swept.superseded,
        "lowered": swept.lowered,
        "missing": swept.missing,
        "mended": len(swept.mended),
    }
    _log.warning("swept", **did, uncounted=len(swept.uncounted))
    if metrics is not None:
        for change, number in did.items():
            metrics.swept(change, number)
    if swept.whole:
        store.settle()


def assemble(
    store: Store,
    embedder: Embedder,
    settings: Settings,
    clock: Clock | None = None,
    metrics: Metrics | None = None,
) -> Services:
    """The service over parts that are open already. `metrics` are told of its store and writer, too."""
    clock = clock or SystemClock()
    count = _uncounted if metrics is None else metrics.cache
    # Others write to a shared store: what is kept of it ages, and a kept row may have ended.
    statistics = Statistics(
        store,
        max_age_s=OTHERS_SEEN_S if store.shared else None,
        whole_vocabulary=SHARED_VOCABULARY if store.shared else WHOLE_VOCABULARY,
        counted=count("statistics"),
    )
    kept = KeptRows(0 if store.shared else settings.kept_rows, count("kept_rows"))
    executor = ThreadPoolExecutor(settings.store_clients * 2, thread_name_prefix="loom-leg")
    searcher = Searcher(store, statistics, embedder, executor, clock, kept)
    timeout_s = settings.statement_timeout_s
    process = Process.join(store, clock, timeout_s) if store.shared else Process.alone(store, clock)
    namespaces = Namespaces(store, process)
    writer = MemoryWriter(store, embedder, statistics, clock, settings, namespaces, kept.forget)
    watch = Watch(metrics, Hasher(settings.log_hash_key.get_secret_value()))
    once = Once(Answers(store, clock))
    tokenizer = Tokenizer(embedder.identity.name, embedder.tokens)
    neighbours = Neighbours.of(store, process, clock, tokenizer)
    patrol = neighbours and Patrol(neighbours, metrics)
    services = Services(searcher, writer, namespaces, settings, time.monotonic(), once, watch=watch, patrol=patrol)
    if metrics is not None:
        _observe(services, metrics)
    return services


def _observe(services: Services, metrics: Metrics) -> None:
    """Let the metrics see what stands below the operations."""
    store, started = services.searcher.store, services.started
    store.observe(metrics.statement)
    services.writer.observe(metrics.group)
    metrics.opened("server" if store.shared else "embedded", lambda: time.monotonic() - started, services.queued)
    if isinstance(store, Pooled):
        metrics.pool(lambda: store.clients_in_use)


def _uncounted(cache: str) -> Count:
    return count_nothing
