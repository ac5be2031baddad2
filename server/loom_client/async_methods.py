"""The operations as methods to await. Generated from the wire's models by tests/support/client_methods.py."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar, Unpack, overload

from pydantic import JsonValue

from loom_client import wire
from loom_client.arguments import (
    MemoryDeleteFields,
    MemoryGetFields,
    MemoryHistoryFields,
    MemoryItemFields,
    MemoryListFields,
    MemorySearchFields,
    MemorySetFields,
    MemorySetManyFields,
    MemoryUpdateFields,
    NamespaceGetFields,
    NamespaceSetFields,
    OpsCapabilitiesFields,
    OpsHealthFields,
    OpsReembedFields,
)
from loom_client.requests import contract_of

A = TypeVar("A", bound=wire.Answer)


class AsyncAsk(Protocol):
    """Makes one call of an operation from its fields."""

    async def __call__(self, name: str, fields: Mapping[str, object], kind: type[A]) -> A: ...


class AsyncMemoryMethods:
    """The operations `memory.*`."""

    def __init__(self, ask: AsyncAsk) -> None:
        self._ask = ask

    async def set(self, memory_key: str, value: JsonValue, **fields: Unpack[MemorySetFields]) -> wire.MemorySetResponse:
        """Write one memory."""
        return await self._ask(
            "memory.set", {"memory_key": memory_key, "value": value, **fields}, wire.MemorySetResponse
        )

    async def set_many(
        self, items: Sequence[wire.MemoryItem | MemoryItemFields], **fields: Unpack[MemorySetManyFields]
    ) -> wire.MemorySetManyResponse:
        """Write many memories, with an answer for each."""
        return await self._ask("memory.set_many", {"items": [*items], **fields}, wire.MemorySetManyResponse)

    async def get(self, memory_key: str, **fields: Unpack[MemoryGetFields]) -> wire.MemoryGetResponse:
        """Read one memory."""
        return await self._ask("memory.get", {"memory_key": memory_key, **fields}, wire.MemoryGetResponse)

    async def list(self, **fields: Unpack[MemoryListFields]) -> wire.MemoryListResponse:
        """Read memories in the order of their keys, page by page."""
        return await self._ask("memory.list", {**fields}, wire.MemoryListResponse)

    async def update(self, memory_key: str, **fields: Unpack[MemoryUpdateFields]) -> wire.MemoryUpdateResponse:
        """Change some fields of a memory and keep the rest."""
        return await self._ask("memory.update", {"memory_key": memory_key, **fields}, wire.MemoryUpdateResponse)

    async def delete(self, memory_key: str, **fields: Unpack[MemoryDeleteFields]) -> wire.MemoryDeleteResponse:
        """Delete a memory."""
        return await self._ask("memory.delete", {"memory_key": memory_key, **fields}, wire.MemoryDeleteResponse)

    async def history(self, memory_key: str, **fields: Unpack[MemoryHistoryFields]) -> wire.MemoryHistoryResponse:
        """Read the versions of a key, newest first."""
        return await self._ask("memory.history", {"memory_key": memory_key, **fields}, wire.MemoryHistoryResponse)

    async def search(self, query: str, **fields: Unpack[MemorySearchFields]) -> wire.MemorySearchResponse:
        """Search memories: rows that answer, or an abstain with its reason."""
        return await self._ask("memory.search", {"query": query, **fields}, wire.MemorySearchResponse)


class AsyncNamespaceMethods:
    """The operations `namespace.*`."""

    def __init__(self, ask: AsyncAsk) -> None:
        self._ask = ask

    async def get(self, **fields: Unpack[NamespaceGetFields]) -> wire.NamespaceResponse:
        """Read what a namespace prefers."""
        return await self._ask("namespace.get", {**fields}, wire.NamespaceResponse)

    async def set(self, **fields: Unpack[NamespaceSetFields]) -> wire.NamespaceResponse:
        """Change what a namespace prefers."""
        return await self._ask("namespace.set", {**fields}, wire.NamespaceResponse)


class AsyncOpsMethods:
    """The operations `ops.*`."""

    def __init__(self, ask: AsyncAsk) -> None:
        self._ask = ask

    async def health(self, **fields: Unpack[OpsHealthFields]) -> wire.OpsHealthResponse:
        """Tell how the service is."""
        return await self._ask("ops.health", {**fields}, wire.OpsHealthResponse)

    async def capabilities(self, **fields: Unpack[OpsCapabilitiesFields]) -> wire.OpsCapabilitiesResponse:
        """Tell what the service can do."""
        return await self._ask("ops.capabilities", {**fields}, wire.OpsCapabilitiesResponse)

    async def reembed(self, **fields: Unpack[OpsReembedFields]) -> wire.OpsReembedResponse:
        """Move vectors to the model of the embedder that serves now."""
        return await self._ask("ops.reembed", {**fields}, wire.OpsReembedResponse)


class AsyncCalls(ABC):
    """What a client can send by its request."""

    @overload
    async def call(
        self, request: wire.MemorySetRequest, *, idempotency_key: str | None = None
    ) -> wire.MemorySetResponse: ...

    @overload
    async def call(
        self, request: wire.MemorySetManyRequest, *, idempotency_key: str | None = None
    ) -> wire.MemorySetManyResponse: ...

    @overload
    async def call(self, request: wire.MemoryGetRequest) -> wire.MemoryGetResponse: ...

    @overload
    async def call(self, request: wire.MemoryListRequest) -> wire.MemoryListResponse: ...

    @overload
    async def call(
        self, request: wire.MemoryUpdateRequest, *, idempotency_key: str | None = None
    ) -> wire.MemoryUpdateResponse: ...

    @overload
    async def call(
        self, request: wire.MemoryDeleteRequest, *, idempotency_key: str | None = None
    ) -> wire.MemoryDeleteResponse: ...

    @overload
    async def call(self, request: wire.MemoryHistoryRequest) -> wire.MemoryHistoryResponse: ...

    @overload
    async def call(self, request: wire.MemorySearchRequest) -> wire.MemorySearchResponse: ...

    @overload
    async def call(self, request: wire.NamespaceGetRequest) -> wire.NamespaceResponse: ...

    @overload
    async def call(
        self, request: wire.NamespaceSetRequest, *, idempotency_key: str | None = None
    ) -> wire.NamespaceResponse: ...

    @overload
    async def call(self, request: wire.OpsHealthRequest) -> wire.OpsHealthResponse: ...

    @overload
    async def call(self, request: wire.OpsCapabilitiesRequest) -> wire.OpsCapabilitiesResponse: ...

    @overload
    async def call(
        self, request: wire.OpsReembedRequest, *, idempotency_key: str | None = None
    ) -> wire.OpsReembedResponse: ...

    async def call(self, request: wire.Request, *, idempotency_key: str | None = None) -> wire.Answer:
        """Send a request as it is. A write's `idempotency_key` is made anew for each call where none is given."""
        return await self._ask(request, contract_of(request).response, idempotency_key)

    @abstractmethod
    async def _ask(self, request: wire.Request, kind: type[A], key: str | None) -> A: ...
