"""Which embedder serves, by the setting's name. A new one is a file here and a line in `EMBEDDERS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from loom_server.embed.base import Embedder
from loom_server.embed.bedrock import bedrock_embedder
from loom_server.embed.cache import CachedEmbedder
from loom_server.embed.cohere import cohere_embedder
from loom_server.embed.hashed import HashedEmbedder
from loom_server.embed.minilm import MinilmEmbedder
from loom_server.embed.openai import openai_embedder
from loom_server.embed.remote import Remote
from loom_server.embed.static import StaticEmbedder
from loom_server.embed.voyage import voyage_embedder
from loom_server.observe.metrics import Metrics
from loom_server.settings import Settings


def _static(settings: Settings) -> Embedder:
    return StaticEmbedder(settings.embed_max_tokens)


def _hash(settings: Settings) -> Embedder:
    return HashedEmbedder(
        max_words=settings.embed_max_tokens,
        query_prefix=settings.embedder_query_prefix,
        passage_prefix=settings.embedder_passage_prefix,
    )


def _minilm(settings: Settings) -> Embedder:
    return MinilmEmbedder(
        settings.embed_max_tokens,
        query_prefix=settings.embedder_query_prefix,
        passage_prefix=settings.embedder_passage_prefix,
    )


EMBEDDERS: Mapping[str, Callable[[Settings], Embedder]] = MappingProxyType(
    {
        "static": _static,
        "minilm": _minilm,
        "hash": _hash,
        "openai": openai_embedder,
        "cohere": cohere_embedder,
        "voyage": voyage_embedder,
        "bedrock": bedrock_embedder,
    }
)
"""The values of LOOM_EMBEDDER, each with what makes its embedder."""


def make_embedder(settings: Settings, metrics: Metrics | None = None) -> Embedder:
    """The chosen embedder behind its cache. Raises `ConfigError` when it cannot be loaded."""
    inner = EMBEDDERS[settings.embedder](settings)
    if metrics is not None and isinstance(inner, Remote):
        metrics.endpoint(settings.embedder, inner.observe(metrics.requested(settings.embedder)))
    return CachedEmbedder(inner, settings.embed_cache_size, metrics, settings.embedder)
