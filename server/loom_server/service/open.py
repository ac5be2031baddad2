"""Opens a service: the store, its schema, what a crash left, the embedder, the write path.

The sweep runs only where the owner before did not close cleanly, and before any write.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import structlog

from loom_server.analysis.analyse import warm
from loom_server.embed.base import Embedder
from loom_server.embed.choose import make_embedder
from loom_server.engine.search import Searcher
from loom_server.ingest.memory import MemoryWriter
from loom_server.keep.sweep import sweep
from loom_server.model.clock import Clock, SystemClock
from loom_server.service.services import Services
from loom_server.service.tenants import DEFAULT_LANGUAGE
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.kept import KeptRows
from loom_server.store.migrate import migrate
from loom_server.store.namespaces import Namespaces
from loom_server.store.statistics import Statistics
from loom_server.store.store import Store

_log = structlog.get_logger(__name__)


def open_services(settings: Settings) -> Services:
    """The service on the embedded store of `settings.data_dir`.

    Raises `StoreLocked` where another process owns the directory, `MigrationEdited`,
    `ConfigError` where the embedder cannot be loaded.
    """
    embedder = make_embedder(settings)
    warm(DEFAULT_LANGUAGE)
    store = EmbeddedStore.open(settings)
    try:
        migrate(store)
        if not store.was_clean:
            _sweep(store, embedder)
        return assemble(store, embedder, settings)
    except BaseException:
        store.close()
        raise


def _sweep(store: EmbeddedStore, embedder: Embedder) -> None:
    """Finish what a crash left; what another embedder must finish stays for its next start."""
    swept = sweep(store, embedder)
    _log.warning("swept after an unclean stop", report=asdict(swept))
    if swept.whole:
        store.settle()


def assemble(store: Store, embedder: Embedder, settings: Settings, clock: Clock | None = None) -> Services:
    """The service over parts that are open already."""
    clock = clock or SystemClock()
    statistics = Statistics(store)
    kept = KeptRows(settings.kept_rows)
    executor = ThreadPoolExecutor(settings.store_clients * 2, thread_name_prefix="loom-leg")
    searcher = Searcher(store, statistics, embedder, executor, clock, kept)
    namespaces = Namespaces(store)
    writer = MemoryWriter(store, embedder, statistics, clock, settings, namespaces, kept.forget)
    return Services(searcher, writer, namespaces, settings, time.monotonic())
