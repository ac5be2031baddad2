"""A model behind an API as an `Embedder`: cut, batched, at most `concurrency` requests at once.

    text      its first BYTES_A_TOKEN · max_tokens bytes of UTF-8; a blank one is a zero row and is not sent
    request   at most `batch` texts, what the provider takes, and BATCH_BYTES
    vector    divided by its length, since not every API does that

The cut is by bytes, since the tokens of a remote model are not known here: English has some 4 bytes a token,
Chinese 3. Where a deadline is given, `SHARE` of what is left of it is used: then `EmbedError`, so that the caller
goes on with the words. Who waits is let go at once when the caller goes away; a request that was under way runs
to its end or time-out on its own thread.

Limits: a vector may differ a little by its batch, as the endpoint has it. An endpoint that sends an answer byte by
byte holds a thread, though not the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from math import isinf

import numpy as np

from loom_server.embed.base import ModelIdentity, TokenShare, Unweighted, Vectors
from loom_server.embed.caller import Api, Caller, Errand, Observer, Role
from loom_server.embed.lanes import Lanes, abandon
from loom_server.embed.vectors import checked, unit
from loom_server.errors import Cancelled, ConfigError, EmbedError
from loom_server.model.deadline import Deadline
from loom_server.settings import Settings

BYTES_A_TOKEN = 4
BATCH_BYTES = 200_000
"""Bytes of one request's texts: the APIs bound its tokens, at 120,000 or more."""

PROBE = "is this service well"
FRESH_S = 30.0
"""A probe asks the endpoint only where nothing was answered for so long."""


@dataclass(frozen=True, slots=True)
class Model:
    """What a provider says of the model. `dimension` is None where only the endpoint knows it."""

    provider: str
    name: str
    dimension: int | None
    revision: str = "1"
    query_prefix: str = ""
    passage_prefix: str = ""

    def identity(self, dimension: int) -> ModelIdentity:
        """With the dimension known. A colon parts the identity's name, so the model has none in it."""
        name = self.name.replace(":", "@")
        return ModelIdentity(self.provider, name, dimension, self.revision, self.query_prefix, self.passage_prefix)


class Remote(Unweighted):
    """The embedder; safe from many threads."""

    def __init__(
        self, caller: Caller, identity: ModelIdentity, *, batch: int, concurrency: int, max_tokens: int
    ) -> None:
        """`batch` is the most texts of a request, `concurrency` the most requests at once."""
        self._caller = caller
        self._identity = identity
        self._batch = batch
        self._most_bytes = BYTES_A_TOKEN * max_tokens
        self._lanes: Lanes[Vectors] = Lanes(concurrency, "loom-embed")

    @property
    def identity(self) -> ModelIdentity:
        """Provider, model, dimension, and a revision that tells prefixes apart; not the address."""
        return self._identity

    def passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> Vectors:
        """Unit rows, shape (len(texts), dimension); zero for a text that is empty or blank.

        Raises `EmbedError` where one of the requests fails.
        """
        return self._vectors(texts, "passage", deadline)

    def query(self, text: str, share: TokenShare | None = None, deadline: Deadline | None = None) -> Vectors:
        """One unit vector, shape (dimension,). `share` is not asked: there are no tokens to weight."""
        return self._vectors([text], "query", deadline)[0]

    def probe(self, deadline: Deadline | None = None) -> None:
        """Raise `EmbedError` where the endpoint does not answer now, or did not in the last `FRESH_S` seconds."""
        if not self._caller.answered_within(FRESH_S):
            self._vectors([PROBE], "query", deadline)

    def observe(self, observer: Observer) -> Callable[[], bool]:
        """Have `observer` told of every request; the answer tells whether the endpoint is left alone."""
        self._caller.observe(observer)
        return lambda: self._caller.breaker.open

    def _vectors(self, texts: Sequence[str], role: Role, deadline: Deadline | None) -> Vectors:
        rows = np.zeros((len(texts), self._identity.dimension), dtype=np.float32)
        fit = {place: _cut(text, self._most_bytes) for place, text in enumerate(texts) if text.strip()}
        if not fit:
            return rows
        if deadline is not None:
            deadline.check()
        parts = list(_parts(fit, self._batch))
        for part, made in zip(
            parts, self._answers([list(part.values()) for part in parts], role, deadline), strict=True
        ):
            rows[list(part)] = self._usable(made)
        return rows

    def _answers(self, batches: Sequence[Sequence[str]], role: Role, deadline: Deadline | None) -> list[Vectors]:
        """The vectors of each batch; the first failure is everybody's."""
        errand = Errand(deadline)
        work = [partial(self._caller.rows, batch, role, errand) for batch in batches]
        futures = [self._lanes.submit(role == "query", one) for one in work]
        gone = Cancelled("The caller went away before the answer was ready.")
        unregister = _nothing if deadline is None else deadline.on_cancel(lambda: abandon(futures, gone))
        try:
            seconds = errand.left()
            wait(futures, None if isinf(seconds) else seconds, FIRST_EXCEPTION)
            if errand.error is not None:
                raise errand.error
            return self._gathered(futures, deadline)
        finally:
            unregister()
            errand.end()
            abandon(futures, gone)

    def _gathered(self, futures: Sequence[Future[Vectors]], deadline: Deadline | None) -> list[Vectors]:
        failed = [error for future in futures if future.done() and (error := future.exception()) is not None]
        if failed:
            raise failed[0]
        if not all(future.done() for future in futures):
            if deadline is not None:
                deadline.check()
            raise EmbedError(f"Embedder {self._identity.name} did not answer in its share of the time given.")
        return [future.result() for future in futures]

    def _usable(self, made: Vectors) -> Vectors:
        """Unit rows. Raises `EmbedError` for another dimension, NaN or infinity."""
        if made.shape[1] != self._identity.dimension:
            self._caller.unusable()
            raise EmbedError(
                f"Embedder {self._identity.name} returned vectors of {made.shape[1]} numbers, not of "
                f"{self._identity.dimension}; set LOOM_EMBEDDER_DIMENSION to what the model returns."
            )
        try:
            with np.errstate(invalid="ignore", over="ignore"):
                return checked(np.stack([unit(row) for row in made]), self._identity, len(made))
        except EmbedError:
            self._caller.unusable()
            raise


def remote(api: Api, model: Model, settings: Settings) -> Remote:
    """The embedder of a provider. Where only the endpoint knows the dimension, it is asked for it.

    Raises `ConfigError` where it is asked and does not answer.
    """
    caller = Caller(api, settings.embedder_timeout_s)
    dimension = settings.embedder_dimension or model.dimension or _asked(caller)
    return Remote(
        caller,
        model.identity(dimension),
        batch=min(settings.embedder_batch, api.most_texts),
        concurrency=settings.embedder_concurrency,
        max_tokens=settings.embed_max_tokens,
    )


def revision_of(query_prefix: str, passage_prefix: str) -> str:
    """Vectors made under other prefixes are of another model."""
    if not query_prefix and not passage_prefix:
        return "1"
    told = repr((query_prefix, passage_prefix)).encode("utf-8", "replace")
    return f"1-{blake2b(told, digest_size=4).hexdigest()}"


def _asked(caller: Caller) -> int:
    try:
        return caller.rows([PROBE], "passage", Errand()).shape[1]
    except EmbedError as error:
        raise ConfigError(
            f"The dimension of the model is not known here, and the endpoint does not tell it: {error.message} "
            "Set LOOM_EMBEDDER_DIMENSION to start without asking."
        ) from error


def _cut(text: str, most_bytes: int) -> str:
    # A character takes at least one byte, so the first cut loses nothing and spares encoding megabytes.
    written = text[:most_bytes].encode("utf-8", "replace")
    return written[:most_bytes].decode("utf-8", "ignore")


def _parts(texts: Mapping[int, str], most_texts: int) -> Iterator[dict[int, str]]:
    """The texts in their order, in requests that are small enough."""
    part: dict[int, str] = {}
    size = 0
    for place, text in texts.items():
        length = len(text.encode())
        if part and (len(part) == most_texts or size + length > BATCH_BYTES):
            yield part
            part, size = {}, 0
        part[place] = text
        size += length
    yield part


def _nothing() -> None:
    """There is no deadline that would tell of a cancellation."""
