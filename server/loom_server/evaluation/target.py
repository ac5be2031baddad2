"""Where questions are asked: a store made for the run, or whatever door a caller holds.

The store of a run lies in a temporary directory. It keeps no vectors of questions (`LOOM_EMBED_CACHE_SIZE` 0),
so that each mode pays for embedding its own; vectors of documents are kept for the oracle where one is asked.
Documents are written in their order by one caller, so row ids, which break ties, are the same in each run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from pydantic import ValidationError

from loom_client import wire
from loom_server.embed.base import Embedder, ModelIdentity, TokenShare, Vectors
from loom_server.embed.choose import make_embedder
from loom_server.errors import InvalidInput
from loom_server.evaluation.datasets.base import Document
from loom_server.model.deadline import Deadline
from loom_server.service.open import open_services
from loom_server.service.services import Services
from loom_server.settings import Settings

LONGEST_S = 600.0
BATCH_CHARS = 2_000_000


class Target(Protocol):
    """Two operations of the wire. Raises a `LoomError`."""

    def search(self, request: wire.MemorySearchRequest) -> wire.MemorySearchResponse: ...

    def set_many(self, request: wire.MemorySetManyRequest) -> wire.MemorySetManyResponse: ...


@dataclass(frozen=True, slots=True)
class ServiceTarget:
    """Services in this process."""

    services: Services

    def search(self, request: wire.MemorySearchRequest) -> wire.MemorySearchResponse:
        """The answer, under the deadline that a door would set."""
        return self.services.search(request, Deadline(self.services.settings.memory_search_timeout_ms / 1000))

    def set_many(self, request: wire.MemorySetManyRequest) -> wire.MemorySetManyResponse:
        """The answer of a batch."""
        return self.services.set_many(request, Deadline(LONGEST_S))


class Remembering:
    """An embedder that gives the vector of a passage again without the work; questions are embedded each time."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._kept: dict[str, Vectors] = {}

    @property
    def identity(self) -> ModelIdentity:
        """That of the embedder behind it."""
        return self._inner.identity

    def passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> Vectors:
        """Unit rows, shape (len(texts), dimension)."""
        missing = list(dict.fromkeys(text for text in texts if text not in self._kept))
        if missing:
            self._kept.update(zip(missing, self._inner.passages(missing, deadline), strict=True))
        return np.stack([self._kept[text] for text in texts])

    def query(self, text: str, share: TokenShare | None = None, deadline: Deadline | None = None) -> Vectors:
        """One unit vector, shape (dimension,)."""
        return self._inner.query(text, share, deadline)

    def tokens(self, text: str) -> tuple[str, ...]:
        """Those of the embedder behind it."""
        return self._inner.tokens(text)

    def background(self, tokens: Sequence[str]) -> Sequence[float]:
        """That of the embedder behind it."""
        return self._inner.background(tokens)


@contextmanager
def temporary_services(settings: Settings, *, remember: bool = False) -> Generator[Services]:
    """Services over a store of their own, which is gone afterwards. `remember` keeps vectors of documents.

    Raises `ConfigError` where the embedder cannot be loaded, `StoreUnavailable` where this process has a store.
    """
    with tempfile.TemporaryDirectory(prefix="loom-eval-", ignore_cleanup_errors=True) as folder:
        own = settings.model_copy(update={"data_dir": Path(folder), "embed_cache_size": 0})
        embedder = make_embedder(own)
        services = open_services(own, embedder=Remembering(embedder) if remember else embedder)
        try:
            yield services
        finally:
            services.close()


def load(
    target: Target, org: str, namespace: str, documents: Sequence[Document], told: Callable[[int], None], most: int
) -> None:
    """Write documents in batches of `most` at most; `told` hears how many each batch wrote.

    Raises `InvalidInput` naming the document that cannot be stored.
    """
    for batch in _batches(documents, most):
        items = [{"memory_key": document.key, "value": document.text} for document in batch]
        try:
            fields = {"org": org, "namespace": namespace, "items": items}
            request = wire.MemorySetManyRequest.model_validate(fields)
        except ValidationError as error:
            raise InvalidInput(_refused(batch, error)) from None
        answer = target.set_many(request)
        for one in answer.results:
            if isinstance(one, wire.MemoryRefused):
                raise InvalidInput(f"The document {one.memory_key!r} cannot be stored: {one.error.message}")
        told(len(batch))


def _batches(documents: Sequence[Document], most: int) -> Iterator[Sequence[Document]]:
    """Runs of documents of at most `most` rows and `BATCH_CHARS` characters, a longer document alone."""
    start, chars = 0, 0
    for place, document in enumerate(documents):
        chars += len(document.text)
        if place > start and (place - start == most or chars > BATCH_CHARS):
            yield documents[start:place]
            start, chars = place, len(document.text)
    yield documents[start:]


def _refused(batch: Sequence[Document], error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = first["loc"][1] if len(first["loc"]) > 1 else None
    key = f" {batch[place].key!r}" if isinstance(place, int) else ""
    return f"The document{key} cannot be stored: {'.'.join(map(str, first['loc'][2:]))} {first['msg']}."
