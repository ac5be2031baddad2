"""What every group of operations holds."""

from __future__ import annotations

from dataclasses import dataclass, field

from loom_server.engine.search import Searcher
from loom_server.ingest.memory import MemoryWriter
from loom_server.service.once import Once
from loom_server.service.patrol import Patrol
from loom_server.service.reembedding import Reembedding, StaleRows
from loom_server.service.turnstile import Turnstile
from loom_server.service.watch import Watch
from loom_server.settings import Settings
from loom_server.store.namespaces import Namespaces


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a running service; all are safe from many threads. `started` is monotonic."""

    searcher: Searcher
    writer: MemoryWriter
    namespaces: Namespaces
    settings: Settings
    started: float
    once: Once
    turnstile: Turnstile = field(default_factory=Turnstile)
    watch: Watch = field(default_factory=Watch)
    patrol: Patrol | None = None
    reembedding: Reembedding = field(default_factory=Reembedding)
    stale: StaleRows = field(default_factory=StaleRows)
