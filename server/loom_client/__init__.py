"""What a caller of Loom Recall needs: the wire models and a client, which import no server code.

    from loom_client import Client

    with Client() as loom:
        loom.memory.set("deploy/window", "Deploys go out on Tuesdays.")
        answer = loom.memory.search("when do deploys go out")

`loom_client.wire` alone loads no HTTP library: the names here are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loom_client.async_client import AsyncClient
    from loom_client.client import Client
    from loom_client.errors import (
        ApiError,
        Conflict,
        EmbedderFailed,
        Forbidden,
        InternalFailure,
        InvalidCall,
        LoomClientError,
        NotFound,
        RateLimited,
        RequestRefused,
        StoreFailed,
        TransportError,
        Unauthenticated,
        Unavailable,
        UnexpectedAnswer,
    )
    from loom_client.retry import RetryPolicy
else:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)


_HOMES = {"AsyncClient": "async_client", "Client": "client", "RetryPolicy": "retry"}

__all__ = [
    "ApiError",
    "AsyncClient",
    "Client",
    "Conflict",
    "EmbedderFailed",
    "Forbidden",
    "InternalFailure",
    "InvalidCall",
    "LoomClientError",
    "NotFound",
    "RateLimited",
    "RequestRefused",
    "RetryPolicy",
    "StoreFailed",
    "TransportError",
    "Unauthenticated",
    "Unavailable",
    "UnexpectedAnswer",
]
