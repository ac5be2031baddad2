"""Any endpoint that speaks OpenAI's `POST /embeddings`, by the `openai` SDK.

    input        the prefix of the role and the text
    dimensions   sent where LOOM_EMBEDDER_DIMENSION asks OpenAI's own models of the third generation for fewer

For another model LOOM_EMBEDDER_DIMENSION only says what the model returns. With LOOM_EMBEDDER_BASE_URL no key is
needed: a server of one's own may ask for none. The answer is read as it came, base64 or numbers, since compatible
servers send either. Needs the extra `openai`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from loom_server.embed.caller import Role
from loom_server.embed.endpoint import address_of, key_of, not_installed
from loom_server.embed.failure import Failure, of_status
from loom_server.embed.remote import Model, Remote, remote, revision_of
from loom_server.settings import Settings

ADDRESS = "https://api.openai.com/v1"
MODEL = "text-embedding-3-small"
DIMENSIONS: Mapping[str, int] = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
SHORTENED = "text-embedding-3-"
"""Models whose vectors the API shortens on demand begin with this."""

NO_KEY = "none"
MOST_TEXTS = 2048


class OpenaiApi:
    """One endpoint and model; safe from many threads."""

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` where the package or the key is missing."""
        self._driver = _driver()
        address = address_of(settings)
        own = address is not None and not settings.embedder_api_key.get_secret_value()
        self._client = self._driver.OpenAI(
            api_key=NO_KEY if own else key_of(settings), base_url=address or ADDRESS, max_retries=0
        )
        self._model = settings.embedder_model or MODEL
        self._prefixes = {"query": settings.embedder_query_prefix, "passage": settings.embedder_passage_prefix}
        wanted = settings.embedder_dimension
        shortens = self._model.startswith(SHORTENED) and wanted not in (0, DIMENSIONS.get(self._model))
        self._options = {"dimensions": wanted} if shortens else {}

    @property
    def most_texts(self) -> int:
        """What one request may hold."""
        return MOST_TEXTS

    @property
    def name(self) -> str:
        """For messages."""
        return f"openai:{self._model}"

    @property
    def model(self) -> Model:
        """What is known of it without asking."""
        query, passage = self._prefixes["query"], self._prefixes["passage"]
        known = DIMENSIONS.get(self._model)
        return Model("openai", self._model, known, revision_of(query, passage), query, passage)

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """The SDK wraps those of its transport."""
        return (self._driver.OpenAIError,)

    def send(self, texts: Sequence[str], role: Role, timeout_s: float) -> Any:
        """The raw answer: the SDK's own reading of it would fail in its own ways on a page of HTML."""
        prefix = self._prefixes[role]
        return self._client.embeddings.with_raw_response.create(
            model=self._model, input=[prefix + text for text in texts], timeout=timeout_s, **self._options
        )

    def read(self, answer: Any) -> Sequence[Any]:
        """The items say their place; one that does not stands where it stands."""
        items: Sequence[Any] = orjson.loads(answer.content)["data"]
        placed = {item.get("index", place): item["embedding"] for place, item in enumerate(items)}
        return [placed[place] for place in range(len(items))]

    def failure(self, error: Exception) -> Failure:
        """By the status, or by what happened to the connection."""
        if isinstance(error, self._driver.APIStatusError):
            told: Any = error
            return of_status(told.status_code, told.response.headers)
        if isinstance(error, self._driver.APITimeoutError):
            return Failure("timeout")
        return Failure("unreachable" if isinstance(error, self._driver.APIConnectionError) else "failed")


def openai_embedder(settings: Settings) -> Remote:
    """The embedder. Raises `ConfigError` where it cannot be used."""
    api = OpenaiApi(settings)
    return remote(api, api.model, settings)


def _driver() -> Any:
    try:
        # Seconds to import, and an extra.
        import openai  # noqa: PLC0415
    except ImportError as error:
        raise not_installed("openai", "openai") from error
    return openai
