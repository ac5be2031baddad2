"""Services over a store that is open already, each under an embedder of its own, and moves from one to the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from loom_client import wire
from loom_server.embed.base import Embedder, Vectors
from loom_server.embed.hashed import HashedEmbedder
from loom_server.errors import EmbedError
from loom_server.model.deadline import Deadline
from loom_server.service.open import assemble
from loom_server.service.services import Services
from loom_server.settings import Settings
from loom_server.store.store import Store
from writing import table

OLD, NEW = HashedEmbedder(dimension=32), HashedEmbedder(dimension=64)
PATIENCE_S = 60.0


@contextmanager
def served_by(store: Store, embedder: Embedder) -> Iterator[Services]:
    """All operations under `embedder`; the store stays open."""
    services = assemble(store, embedder, Settings())
    try:
        yield services
    finally:
        services.reembedding.close()
        if services.patrol is not None:
            services.patrol.close()
        services.writer.close()
        services.searcher.executor.shutdown()
        services.namespaces.process.close()


def ask(services: Services, action: str = "status", org: str | None = None) -> wire.OpsReembedResponse:
    """One call of `ops.reembed`."""
    request = wire.OpsReembedRequest.model_validate({"action": action, "org": org})
    return services.reembed(request, Deadline(PATIENCE_S))


def ended(services: Services) -> wire.OpsReembedResponse:
    """The answer once nothing runs any more."""
    until = time.monotonic() + PATIENCE_S
    while (answer := ask(services)).state == "running":
        assert time.monotonic() < until
        time.sleep(0.005)
    return answer


def move(services: Services, org: str) -> wire.OpsReembedResponse:
    """Start for one org, and wait for the end."""
    ask(services, "start", org)
    answer = ended(services)
    assert answer.state == "done", answer
    return answer


def vectors_of(store: Store, org: str) -> list[tuple[Any, ...]]:
    """The org's vectors: namespace, key, model, live, and the vector itself, in order."""
    return table(store, "memory_embeddings", org, "namespace, memory_key, model, live, vector", "ALL")


def models_of(store: Store, org: str) -> dict[str, int]:
    """How many vectors of each model the org has."""
    models = [str(row[2]) for row in vectors_of(store, org)]
    return {model: models.count(model) for model in models}


def statuses(store: Store, org: str) -> dict[tuple[str, int], str]:
    """Status of each version, by key and id."""
    return {(row[0], row[1]): row[2] for row in table(store, "memory", org, "memory_key, id, toString(status)")}


def twice(store: Store, org: str) -> list[tuple[Any, ...]]:
    """Ids that have two vectors of one model."""
    rows = table(store, "memory_embeddings", org, "id, model")
    return [row for row in set(rows) if rows.count(row) > 1]


def wrong_flags(store: Store, org: str) -> list[Any]:
    """Vectors whose flag is not what their version's status says."""
    live = {row_id for (_, row_id), status in statuses(store, org).items() if status == "live"}
    rows = table(store, "memory_embeddings", org, "id, live")
    return [row_id for row_id, flag in rows if bool(flag) != (row_id in live)]


class Watched(HashedEmbedder):
    """The new embedder, which tells of each batch before it embeds it: the number of the batch and its texts."""

    def __init__(self, before: Callable[[int, Sequence[str]], None]) -> None:
        super().__init__(NEW.identity.dimension)
        self._before = before
        self._batches = count(1)

    def passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> Vectors:
        self._before(next(self._batches), texts)
        return super().passages(texts, deadline)


def failing_from(batch: int) -> Watched:
    """The new embedder, which fails from its batch of that number on."""

    def before(number: int, texts: Sequence[str]) -> None:
        if number >= batch:
            raise EmbedError("The embedder is away; try again later.")

    return Watched(before)
