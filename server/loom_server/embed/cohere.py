"""Cohere's `POST /v2/embed`, by the `cohere` SDK: `search_query` for questions, `search_document` for memories.

`output_dimension` is sent where LOOM_EMBEDDER_DIMENSION asks for another one than the model's own, which models from
`embed-v4.0` on take. The API cuts at its end what is too long for the model. Vectors are asked for in base64: the SDK
takes 0.3 s of processor time to read 64 vectors of 1,536 numbers one by one. Needs the extra `cohere`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from loom_server.embed.caller import Role
from loom_server.embed.endpoint import address_of, key_of, not_installed
from loom_server.embed.failure import Failure, of_status
from loom_server.embed.remote import Model, Remote, remote
from loom_server.settings import Settings

ADDRESS = "https://api.cohere.com"
MODEL = "embed-v4.0"
DIMENSIONS: Mapping[str, int] = {
    "embed-v4.0": 1536,
    "embed-english-v3.0": 1024,
    "embed-multilingual-v3.0": 1024,
    "embed-english-light-v3.0": 384,
    "embed-multilingual-light-v3.0": 384,
}
INPUT_TYPES: Mapping[Role, str] = {"query": "search_query", "passage": "search_document"}
MOST_TEXTS = 96


class CohereApi:
    """One model; safe from many threads."""

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` where the package or the key is missing."""
        driver, self._error = _driver()
        address = address_of(settings) or ADDRESS
        self._client = driver.ClientV2(key_of(settings), base_url=address)
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
        return f"cohere:{self._model}"

    @property
    def model(self) -> Model:
        """The input types stand for the prefixes that the API sets itself."""
        known = DIMENSIONS.get(self._model)
        return Model("cohere", self._model, known, "1", INPUT_TYPES["query"], INPUT_TYPES["passage"])

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """The SDK leaves those of its transport as they are."""
        return (self._error, httpx.HTTPError)

    def send(self, texts: Sequence[str], role: Role, timeout_s: float) -> Any:
        """One request."""
        return self._client.embed(
            model=self._model,
            input_type=INPUT_TYPES[role],
            texts=list(texts),
            embedding_types=["base64"],
            truncate="END",
            # The first name is the newer one of the same.
            request_options={"timeout": timeout_s, "timeout_in_seconds": timeout_s, "max_retries": 0},
            **self._options,
        )

    def read(self, answer: Any) -> Sequence[Any]:
        """In the order of the texts; a compatible server may send numbers all the same."""
        return answer.embeddings.base64 or answer.embeddings.float_

    def failure(self, error: Exception) -> Failure:
        """An answer that is no JSON comes as an error with the status of a success."""
        if isinstance(error, httpx.HTTPError):
            return Failure("timeout" if isinstance(error, httpx.TimeoutException) else "unreachable")
        told: Any = error
        status: int = told.status_code or 500
        return Failure("junk", status) if status < 400 else of_status(status, getattr(told, "headers", None))


def cohere_embedder(settings: Settings) -> Remote:
    """The embedder. Raises `ConfigError` where it cannot be used."""
    api = CohereApi(settings)
    return remote(api, api.model, settings)


def _driver() -> tuple[Any, type[Exception]]:
    try:
        # Slow to import, and an extra.
        import cohere  # noqa: PLC0415
        from cohere.core import ApiError  # noqa: PLC0415
    except ImportError as error:
        raise not_installed("cohere", "cohere") from error
    return cohere, ApiError
