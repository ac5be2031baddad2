"""Which embedder serves, by the setting's name. A new one is a file here and a line in `EMBEDDERS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from loom_server.embed.base import Embedder
from loom_server.embed.cache import CachedEmbedder
from loom_server.embed.hashed import HashedEmbedder
from loom_server.embed.static import StaticEmbedder
from loom_server.settings import Settings


def _static(settings: Settings) -> Embedder:
    return StaticEmbedder(settings.embed_max_tokens)


def _hash(settings: Settings) -> Embedder:
    return HashedEmbedder(max_words=settings.embed_max_tokens)


EMBEDDERS: Mapping[str, Callable[[Settings], Embedder]] = MappingProxyType({"static": _static, "hash": _hash})
"""The values of LOOM_EMBEDDER, each with what makes its embedder."""


def make_embedder(settings: Settings) -> Embedder:
    """The chosen embedder behind its cache. Raises `ConfigError` when it cannot be loaded."""
    return CachedEmbedder(EMBEDDERS[settings.embedder](settings), settings.embed_cache_size)
