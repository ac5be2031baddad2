"""The operations as methods. Generated from the wire's models by tests/support/client_methods.py."""

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


class Ask(Protocol):
    """Makes one call of an operation from its fields."""

    def __call__(self, name: str, fields: Mapping[str, object], kind: type[A]) -> A: ...


class MemoryMethods:
    """The operations `memory.*`."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def set(self, memory_key: str, value: JsonValue, **fields: Unpack[MemorySetFields]) -> wire.MemorySetResponse:
        """Write one memory."""
        return self._ask("memory.set", {"memory_key": memory_key, "value": value, **fields}, wire.MemorySetResponse)

    def set_many(
        self, items: Sequence[wire.MemoryItem | MemoryItemFields], **fields: Unpack[MemorySetManyFields]
    ) -> wire.MemorySetManyResponse:
        """Write many memories, with an answer for each."""
        return self._ask("memory.set_many", {"items": [*items], **fields}, wire.MemorySetManyResponse)

    def get(self, memory_key: str, **fields: Unpack[MemoryGetFields]) -> wire.MemoryGetResponse:
        """Read one memory."""
        return self._ask("memory.get", {"memory_key": memory_key, **fields}, wire.MemoryGetResponse)

    def list(self, **fields: Unpack[MemoryListFields]) -> wire.MemoryListResponse:
        """Read memories in the order of their keys, page by page."""
        return self._ask("memory.list", {**fields}, wire.MemoryListResponse)

    def update(self, memory_key: str, **fields: Unpack[MemoryUpdateFields]) -> wire.MemoryUpdateResponse:
        """Change some fields of a memory and keep the rest."""
        return self._ask("memory.update", {"memory_key": memory_key, **fields}, wire.MemoryUpdateResponse)

    def delete(self, memory_key: str, **fields: Unpack[MemoryDeleteFields]) -> wire.MemoryDeleteResponse:
        """Delete a memory."""
        return self._ask("memory.delete", {"memory_key": memory_key, **fields}, wire.MemoryDeleteResponse)

    def history(self, memory_key: str, **fields: Unpack[MemoryHistoryFields]) -> wire.MemoryHistoryResponse:
        """Read the versions of a key, newest first."""
        return self._ask("memory.history", {"memory_key": memory_key, **fields}, wire.MemoryHistoryResponse)

    def search(self, query: str, **fields: Unpack[MemorySearchFields]) -> wire.MemorySearchResponse:
        """Search memories: rows that answer, or an abstain with its reason."""
        return self._ask("memory.search", {"query": query, **fields}, wire.MemorySearchResponse)


class NamespaceMethods:
    """The operations `namespace.*`."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def get(self, **fields: Unpack[NamespaceGetFields]) -> wire.NamespaceResponse:
        """Read what a namespace prefers."""
        return self._ask("namespace.get", {**fields}, wire.NamespaceResponse)

    def set(self, **fields: Unpack[NamespaceSetFields]) -> wire.NamespaceResponse:
        """Change what a namespace prefers."""
        return self._ask("namespace.set", {**fields}, wire.NamespaceResponse)


class OpsMethods:
    """The operations `ops.*`."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def health(self, **fields: Unpack[OpsHealthFields]) -> wire.OpsHealthResponse:
        """Tell how the service is."""
        return self._ask("ops.health", {**fields}, wire.OpsHealthResponse)

    def capabilities(self, **fields: Unpack[OpsCapabilitiesFields]) -> wire.OpsCapabilitiesResponse:
        """Tell what the service can do."""
        return self._ask("ops.capabilities", {**fields}, wire.OpsCapabilitiesResponse)

    def reembed(self, **fields: Unpack[OpsReembedFields]) -> wire.OpsReembedResponse:
        """Move vectors to the model of the embedder that serves now."""
        return self._ask("ops.reembed", {**fields}, wire.OpsReembedResponse)


class Calls(ABC):
    """What a client can send by its request."""

    @overload
    def call(self, request: wire.MemorySetRequest, *, idempotency_key: str | None = None) -> wire.MemorySetResponse: ...

    @overload
    def call(
        self, request: wire.MemorySetManyRequest, *, idempotency_key: str | None = None
    ) -> wire.MemorySetManyResponse: ...

    @overload
    def call(self, request: wire.MemoryGetRequest) -> wire.MemoryGetResponse: ...

    @overload
    def call(self, request: wire.MemoryListRequest) -> wire.MemoryListResponse: ...

    @overload
    def call(
        self, request: wire.MemoryUpdateRequest, *, idempotency_key: str | None = None
    ) -> wire.MemoryUpdateResponse: ...

    @overload
    def call(
        self, request: wire.MemoryDeleteRequest, *, idempotency_key: str | None = None
    ) -> wire.MemoryDeleteResponse: ...

    @overload
    def call(self, request: wire.MemoryHistoryRequest) -> wire.MemoryHistoryResponse: ...

    @overload
    def call(self, request: wire.MemorySearchRequest) -> wire.MemorySearchResponse: ...

    @overload
    def call(self, request: wire.NamespaceGetRequest) -> wire.NamespaceResponse: ...

    @overload
    def call(
        self, request: wire.NamespaceSetRequest, *, idempotency_key: str | None = None
    ) -> wire.NamespaceResponse: ...

    @overload
    def call(self, request: wire.OpsHealthRequest) -> wire.OpsHealthResponse: ...

    @overload
    def call(self, request: wire.OpsCapabilitiesRequest) -> wire.OpsCapabilitiesResponse: ...

    @overload
    def call(
        self, request: wire.OpsReembedRequest, *, idempotency_key: str | None = None
    ) -> wire.OpsReembedResponse: ...

    def call(self, request: wire.Request, *, idempotency_key: str | None = None) -> wire.Answer:
        """Send a request as it is. A write's `idempotency_key` is made anew for each call where none is given."""
        return self._ask(request, contract_of(request).response, idempotency_key)

    @abstractmethod
    def _ask(self, request: wire.Request, kind: type[A], key: str | None) -> A: ...
