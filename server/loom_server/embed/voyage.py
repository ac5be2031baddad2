"""Voyage's `POST /embeddings`, by the `voyageai` SDK: input type `query` for questions, `document` for memories.

`output_dimension` is sent where LOOM_EMBEDDER_DIMENSION asks for another one than the model's own. The API cuts what is
too long for the model. A key that begins with `al-` is sent to MongoDB's address, as the SDK has it, unless
LOOM_EMBEDDER_BASE_URL names another. Needs the extra `voyage`.

Limit: the SDK tries a connection that is not made twice more before it says so, within the same call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from loom_server.embed.caller import Role
from loom_server.embed.endpoint import address_of, key_of, not_installed
from loom_server.embed.failure import Failure, of_status
from loom_server.embed.remote import Model, Remote, remote
from loom_server.settings import Settings

MODEL = "voyage-4"
DIMENSIONS: Mapping[str, int] = {
    "voyage-4-large": 1024,
    "voyage-4": 1024,
    "voyage-4-lite": 1024,
    "voyage-3-large": 1024,
    "voyage-3.5": 1024,
    "voyage-3.5-lite": 1024,
    "voyage-3": 1024,
    "voyage-3-lite": 512,
    "voyage-code-3": 1024,
    "voyage-finance-2": 1024,
    "voyage-law-2": 1024,
    "voyage-code-2": 1536,
}
INPUT_TYPES: Mapping[Role, str] = {"query": "query", "passage": "document"}
MOST_TEXTS = 128


class VoyageApi:
    """One model; safe from many threads."""

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` where the package or the key is missing."""
        self._driver = _driver()
        self._key = key_of(settings)
        self._address = address_of(settings)
        self._model = settings.embedder_model or MODEL
        wanted = settings.embedder_dimension
        self._options = {"output_dimension": wanted} if wanted not in (0, DIMENSIONS.get(self._model)) else {}

    @property
    def most_texts(self) -> int:
        """What one request may hold."""
        return MOST_TEXTS

    @property
    def name(self) -> str:
        """For messages."""
        return f"voyage:{self._model}"

    @property
    def model(self) -> Model:
        """The input types stand for the prefixes that the API sets itself."""
        known = DIMENSIONS.get(self._model)
        return Model("voyage", self._model, known, "1", INPUT_TYPES["query"], INPUT_TYPES["passage"])

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """The SDK wraps those of its transport."""
        return (self._driver.error.VoyageError,)

    def send(self, texts: Sequence[str], role: Role, timeout_s: float) -> Any:
        """The resource itself, since a client has one time-out for all its requests.

        A format that is asked for keeps the SDK from reading an answer that may be junk.
        """
        return self._driver.Embedding.create(
            api_key=self._key,
            base_url=self._address,
            request_timeout=timeout_s,
            input=list(texts),
            model=self._model,
            input_type=INPUT_TYPES[role],
            truncation=True,
            encoding_format="base64",
            **self._options,
        )

    def read(self, answer: Any) -> Sequence[Any]:
        """The items say their place."""
        return [item["embedding"] for item in sorted(answer["data"], key=lambda item: item["index"])]

    def failure(self, error: Exception) -> Failure:
        """By the status, or by what happened to the connection."""
        told: Any = error
        if isinstance(error, self._driver.error.Timeout):
            return Failure("timeout")
        status: int | None = told.http_status
        if status is None:
            return Failure("unreachable")
        return Failure("junk", status) if status < 400 else of_status(status, told.headers)


def voyage_embedder(settings: Settings) -> Remote:
    """The embedder. Raises `ConfigError` where it cannot be used."""
    api = VoyageApi(settings)
    return remote(api, api.model, settings)


def _driver() -> Any:
    try:
        # A second to import, and an extra.
        import voyageai  # noqa: PLC0415
    except ImportError as error:
        raise not_installed("voyage", "voyageai") from error
    return voyageai
