"""Every operation of the service: a wire request and a deadline in, a wire answer out.

The doors (HTTP, JSON-RPC, the shell) call these methods and nothing below them.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from loom_client import wire
from loom_server import __version__
from loom_server.model.deadline import Deadline
from loom_server.service.health import health_of
from loom_server.service.once import Asked, Done
from loom_server.service.reads import Reads
from loom_server.service.upkeep import Upkeep
from loom_server.service.writes import Writes


class Services(Reads, Writes, Upkeep):
    """All operations over one store; safe from many threads."""

    __slots__ = ()

    def health(self, request: wire.OpsHealthRequest, deadline: Deadline) -> wire.OpsHealthResponse:
        """How the service is, by what it can do right now."""
        store, embedder = self.searcher.store, self.searcher.embedder
        health = health_of(store, embedder, time.monotonic() - self.started, deadline)
        health.stale_rows = self.stale.count(store, embedder.identity.name, deadline)
        health.reembedding = self.reembedding.progress.state
        return health

    def capabilities(self, request: wire.OpsCapabilitiesRequest, deadline: Deadline) -> wire.OpsCapabilitiesResponse:
        """What the service can do, read off the wire's own models."""
        limits = {
            "body_bytes": self.settings.max_body_bytes,
            "query_chars": self.settings.max_query_chars,
            "value_bytes": self.settings.max_value_bytes,
            "top_k": self.settings.memory_search_top_k_ceiling,
            "batch": self.settings.max_batch,
            "items": self.settings.max_items,
            "nesting": self.settings.max_nesting,
            "timeout_ms": self.settings.memory_search_timeout_ms,
        }
        return wire.capabilities(__version__, self.searcher.embedder.identity.name, limits)

    def named(self, asked: Asked, work: Callable[[], Done], deadline: Deadline) -> bytes:
        """The answer of a write that its caller named, done here by `work` or kept from before."""
        return self.once.answer(asked, work, deadline)

    def queued(self) -> int:
        """Writes that wait for their group."""
        return self.writer.queued

    def close(self) -> None:
        """Let running work end, then let the store go."""
        self.reembedding.close()
        if self.patrol is not None:
            self.patrol.close()
        settled = self.writer.close()
        if not settled:
            self.searcher.store.doubt()
        self.searcher.executor.shutdown()
        self.namespaces.process.close(settled)
        self.searcher.store.close()
