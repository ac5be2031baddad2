"""Amazon Titan Text Embeddings V2 on Bedrock, `POST /model/{id}/invoke`, by the `boto3` SDK.

    body      {"inputText": …, "dimensions": 1024, "normalize": true}
    answer    {"embedding": […], "inputTextTokenCount": …}

A request holds one text, so a write of many texts is as many requests, LOOM_EMBEDDER_CONCURRENCY at once.
Credentials come from AWS's own chain (environment, profile, role of the machine), the region from
LOOM_EMBEDDER_REGION or that chain. Needs the extra `bedrock`.

Limit: the SDK has one time-out for all requests, LOOM_EMBEDDER_TIMEOUT_S; who waits is let go by the deadline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from loom_server.embed.caller import Role
from loom_server.embed.endpoint import address_of, not_installed
from loom_server.embed.failure import Failure, of_status
from loom_server.embed.remote import Model, Remote, remote
from loom_server.errors import ConfigError
from loom_server.settings import Settings

MODEL = "amazon.titan-embed-text-v2:0"
DIMENSIONS: Mapping[str, int] = {MODEL: 1024}
ACCEPTED = (256, 512, 1024)
MOST_TEXTS = 1


class BedrockApi:
    """One model in one region; safe from many threads."""

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` where the package, the region or the credentials are missing."""
        _fitting(settings)
        driver, config, self._errors = _drivers()
        self._dimension = settings.embedder_dimension or DIMENSIONS[MODEL]
        session = driver.session.Session(region_name=settings.embedder_region or None)
        if session.region_name is None:
            raise ConfigError("LOOM_EMBEDDER=bedrock needs a region: set LOOM_EMBEDDER_REGION or AWS_REGION.")
        if session.get_credentials() is None:
            raise ConfigError(
                "LOOM_EMBEDDER=bedrock finds no AWS credentials: set AWS_PROFILE, or a key as AWS has it."
            )
        self._client = session.client(
            "bedrock-runtime", endpoint_url=address_of(settings), config=_config(config, settings)
        )

    @property
    def most_texts(self) -> int:
        """What one request may hold."""
        return MOST_TEXTS

    @property
    def name(self) -> str:
        """For messages."""
        return f"bedrock:{MODEL}"

    @property
    def model(self) -> Model:
        """The model knows no roles."""
        return Model("bedrock", MODEL, self._dimension)

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """Those of the service, and those of everything before it."""
        return (self._errors.ClientError, self._errors.BotoCoreError)

    def send(self, texts: Sequence[str], role: Role, timeout_s: float) -> Any:
        """The body of the answer, which is part of the request: it is read here."""
        body = {"inputText": texts[0], "dimensions": self._dimension, "normalize": True}
        answer = self._client.invoke_model(
            modelId=MODEL, contentType="application/json", accept="application/json", body=orjson.dumps(body)
        )
        return answer["body"].read()

    def read(self, answer: Any) -> Sequence[Any]:
        """The one vector."""
        return [orjson.loads(answer)["embedding"]]

    def failure(self, error: Exception) -> Failure:
        """By the status, or by what happened before there was one."""
        known = self._errors
        told: Any = error
        if isinstance(error, known.ClientError):
            about = told.response.get("ResponseMetadata", {})
            return of_status(about.get("HTTPStatusCode", 500), about.get("HTTPHeaders"))
        if isinstance(error, known.NoCredentialsError | known.PartialCredentialsError | known.CredentialRetrievalError):
            return Failure("denied")
        if isinstance(error, known.ReadTimeoutError | known.ConnectTimeoutError):
            return Failure("timeout")
        return Failure("unreachable")


def bedrock_embedder(settings: Settings) -> Remote:
    """The embedder. Raises `ConfigError` where it cannot be used."""
    api = BedrockApi(settings)
    return remote(api, api.model, settings)


def _fitting(settings: Settings) -> None:
    """Refuse what would have no effect, or none but errors."""
    if settings.embedder_model not in ("", MODEL):
        raise ConfigError(f"LOOM_EMBEDDER=bedrock serves {MODEL} alone; unset LOOM_EMBEDDER_MODEL.")
    if settings.embedder_dimension not in (0, *ACCEPTED):
        raise ConfigError(f"LOOM_EMBEDDER_DIMENSION of {MODEL} must be one of {', '.join(map(str, ACCEPTED))}.")
    if settings.embedder_api_key.get_secret_value():
        raise ConfigError("LOOM_EMBEDDER=bedrock takes AWS's own credentials; unset LOOM_EMBEDDER_API_KEY.")


def _config(config: Any, settings: Settings) -> Any:
    return config.Config(
        retries={"total_max_attempts": 1},
        connect_timeout=settings.embedder_timeout_s,
        read_timeout=settings.embedder_timeout_s,
        max_pool_connections=settings.embedder_concurrency,
    )


def _drivers() -> tuple[Any, Any, Any]:
    """The SDK, and its configuration and errors, which belong to the package beneath it."""
    try:
        # Slow to import, and an extra.
        import boto3  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]
        from botocore import config, exceptions  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise not_installed("bedrock", "boto3") from error
    return boto3, config, exceptions
