"""Every embedder runs behind this: its answers are checked, and kept by identity, role and text.

    key = (identity name, "passage" or "query", text, shares of the text's tokens, or none)

Of a text of more than `LONGEST_KEPT` characters the key holds a digest: values of megabytes
would stay in memory for their vectors of a kilobyte.

A weighted query is kept under the very shares that weighted it: when the namespace's
counts move, or another namespace asks, the key is another one. The least recently used
entry goes first. The lock is held for look-ups only, never while embedding; a text that
another thread is embedding is waited for (`flights.py`).

Limits: `size` counts vectors, not bytes. The tokens of as many queries are kept beside
them; those of passages are not, since writes ask for each once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from cachetools import LRUCache

from loom_server.embed.base import Embedder, ModelIdentity, Probed, TokenShare, Vectors
from loom_server.embed.flights import Flights
from loom_server.embed.vectors import checked
from loom_server.model.deadline import Deadline
from loom_server.observe.metrics import Metrics, count_nothing

Key = tuple[str, str, str | bytes, tuple[float, ...]]

LONGEST_KEPT = 256
"""Characters of a text that is its own key."""

PROBE = "is this service well"


class CachedEmbedder:
    """An embedder in front of another; with `size` 0 it keeps nothing and still checks."""

    def __init__(self, inner: Embedder, size: int, metrics: Metrics | None = None, provider: str = "") -> None:
        """`size` is the number of vectors to keep; `metrics` are told of the work under the name of `provider`."""
        self._inner = inner
        self._size = size
        self._metrics = metrics
        self._provider = provider
        self._count = count_nothing if metrics is None else metrics.cache("embed")
        self._kept: LRUCache[Key, Vectors] = LRUCache(max(1, size))
        self._lock = threading.Lock()
        self._flights: Flights[Key, Vectors] = Flights()
        self._query_tokens = lru_cache(maxsize=size)(inner.tokens)

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the embedder behind this one, which also goes into the key."""
        return self._inner.identity

    def passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> Vectors:
        """Unit rows, shape (len(texts), dimension); a text that stands twice is embedded once.

        Raises `EmbedError` when the embedder fails or its answer is not usable.
        """
        identity = self._inner.identity
        keys: list[Key] = [(identity.name, "passage", _name(text), ()) for text in texts]
        found = self._look_up(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:

            def make(wanted: Sequence[Key]) -> Mapping[Key, Vectors]:
                with self._told("passage"):
                    made = self._inner.passages([missing[key] for key in wanted], deadline)
                    return self._keep(zip(wanted, checked(made, identity, len(wanted)), strict=True))

            found.update(self._brought(missing, make, deadline))
        rows = np.empty((len(keys), identity.dimension), dtype=np.float32)
        for row, key in enumerate(keys):
            rows[row] = found[key]
        return rows

    def query(self, text: str, share: TokenShare | None = None, deadline: Deadline | None = None) -> Vectors:
        """One unit vector, shape (dimension,), read-only since later callers get the same array.

        Raises `EmbedError` when the embedder fails or its answer is not usable.
        """
        identity = self._inner.identity
        tokens = () if share is None else self._query_tokens(text)
        shares = tuple(map(float, share(tokens))) if share is not None and tokens else ()
        key: Key = (identity.name, "query", _name(text), shares)
        found = self._look_up([key])
        if key not in found:

            def make(wanted: Sequence[Key]) -> Mapping[Key, Vectors]:
                # The embedder weights with the shares in the key, whatever the counts have become.
                with self._told("query"):
                    made = self._inner.query(text, (lambda _: shares) if tokens else None, deadline)
                    return self._keep(zip(wanted, checked(made[np.newaxis], identity, 1), strict=True))

            found = self._brought([key], make, deadline)
        return found[key]

    def probe(self, deadline: Deadline | None = None) -> None:
        """Raise `EmbedError` where the embedder does not work now; what is kept says nothing of that."""
        if isinstance(self._inner, Probed):
            self._inner.probe(deadline)
        else:
            checked(self._inner.query(PROBE, None, deadline)[np.newaxis], self.identity, 1)

    def tokens(self, text: str) -> tuple[str, ...]:
        """The tokens of the embedder behind this one."""
        return self._inner.tokens(text)

    def background(self, tokens: Sequence[str]) -> Sequence[float]:
        """The background of the embedder behind this one."""
        return self._inner.background(tokens)

    def _told(self, role: str) -> AbstractContextManager[None]:
        return nullcontext() if self._metrics is None else self._metrics.embedding(self._provider, role)

    def _brought(
        self, keys: Collection[Key], make: Callable[[Sequence[Key]], Mapping[Key, Vectors]], deadline: Deadline | None
    ) -> dict[Key, Vectors]:
        def make_what_is_missing(wanted: Sequence[Key]) -> Mapping[Key, Vectors]:
            # Another thread may have brought a key between the look-up and the turn of this one.
            found = self._find(wanted)
            missing = [key for key in wanted if key not in found]
            return {**found, **make(missing)} if missing else found

        return self._flights.bring(keys, make_what_is_missing, deadline)

    def _find(self, keys: Iterable[Key]) -> dict[Key, Vectors]:
        with self._lock:
            return {key: self._kept[key] for key in keys if key in self._kept}

    def _look_up(self, keys: Collection[Key]) -> dict[Key, Vectors]:
        found = self._find(keys)
        self._count(len(found), len(set(keys)) - len(found))
        return found

    def _keep(self, made: Iterable[tuple[Key, Vectors]]) -> Mapping[Key, Vectors]:
        # Copies: a row of a batch would hold the whole batch in memory.
        fresh = {key: vector.copy() for key, vector in made}
        for vector in fresh.values():
            vector.flags.writeable = False
        if self._size:
            with self._lock:
                self._kept.update(fresh)
        return fresh


def _name(text: str) -> str | bytes:
    """What stands for a text in a key."""
    if len(text) <= LONGEST_KEPT:
        return text
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
