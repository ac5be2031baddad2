"""The registry: each operation's contract, its handler and its time.

Every door is made from `OPERATIONS` and shares the one handler. `Handlers` is what the doors
ask of the engine's services; a handler is called in a thread and may block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, Protocol

from loom_client import wire
from loom_server.model.deadline import Deadline
from loom_server.service.once import Asked, Done
from loom_server.settings import Settings

OTHER_SECONDS = 30.0
"""Time of an operation that is not a search."""

HEALTH_SECONDS = 5.0
"""Time of a health check, short enough for a balancer."""


class Handlers(Protocol):
    """The services behind the doors. Each raises a `LoomError` and nothing else on purpose."""

    def set(self, request: wire.MemorySetRequest, deadline: Deadline) -> wire.MemorySetResponse: ...

    def set_many(self, request: wire.MemorySetManyRequest, deadline: Deadline) -> wire.MemorySetManyResponse: ...

    def get(self, request: wire.MemoryGetRequest, deadline: Deadline) -> wire.MemoryGetResponse: ...

    def list(self, request: wire.MemoryListRequest, deadline: Deadline) -> wire.MemoryListResponse: ...

    def update(self, request: wire.MemoryUpdateRequest, deadline: Deadline) -> wire.MemoryUpdateResponse: ...

    def delete(self, request: wire.MemoryDeleteRequest, deadline: Deadline) -> wire.MemoryDeleteResponse: ...

    def history(self, request: wire.MemoryHistoryRequest, deadline: Deadline) -> wire.MemoryHistoryResponse: ...

    def search(self, request: wire.MemorySearchRequest, deadline: Deadline) -> wire.MemorySearchResponse: ...

    def namespace_get(self, request: wire.NamespaceGetRequest, deadline: Deadline) -> wire.NamespaceResponse: ...

    def namespace_set(self, request: wire.NamespaceSetRequest, deadline: Deadline) -> wire.NamespaceResponse: ...

    def health(self, request: wire.OpsHealthRequest, deadline: Deadline) -> wire.OpsHealthResponse: ...

    def capabilities(
        self, request: wire.OpsCapabilitiesRequest, deadline: Deadline
    ) -> wire.OpsCapabilitiesResponse: ...

    def reembed(self, request: wire.OpsReembedRequest, deadline: Deadline) -> wire.OpsReembedResponse: ...

    def named(self, asked: Asked, work: Callable[[], Done], deadline: Deadline) -> bytes: ...


Handler = Callable[[Any, Deadline], wire.Answer]

Lane = Literal["read", "write", "ops"]
"""Which calls share places; `ops` tells of the service itself and must answer while it is busy."""


def search_seconds(request: wire.MemorySearchRequest, settings: Settings) -> float:
    """The time of a search: what it asks for, up to the service's cap."""
    cap = settings.memory_search_timeout_ms
    return min(request.timeout_ms or cap, cap) / 1000.0


def health_seconds(request: wire.Request, settings: Settings) -> float:
    """The time of a health check."""
    return HEALTH_SECONDS


def other_seconds(request: wire.Request, settings: Settings) -> float:
    """The time of every other operation."""
    return OTHER_SECONDS


_TELLING = frozenset({"ops.health", "ops.capabilities"})


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation; `seconds` is the time it has."""

    contract: wire.Contract
    handler: Callable[[Handlers], Handler]
    seconds: Callable[[Any, Settings], float] = other_seconds

    @property
    def name(self) -> str:
        return self.contract.name

    @property
    def lane(self) -> Lane:
        """The calls among which it takes its turn."""
        return "ops" if self.name in _TELLING else self.contract.access


_HANDLERS: Mapping[str, Callable[[Handlers], Handler]] = {
    "memory.set": lambda services: services.set,
    "memory.set_many": lambda services: services.set_many,
    "memory.get": lambda services: services.get,
    "memory.list": lambda services: services.list,
    "memory.update": lambda services: services.update,
    "memory.delete": lambda services: services.delete,
    "memory.history": lambda services: services.history,
    "memory.search": lambda services: services.search,
    "namespace.get": lambda services: services.namespace_get,
    "namespace.set": lambda services: services.namespace_set,
    "ops.health": lambda services: services.health,
    "ops.capabilities": lambda services: services.capabilities,
    "ops.reembed": lambda services: services.reembed,
}
_SECONDS: Mapping[str, Callable[[Any, Settings], float]] = {
    "memory.search": search_seconds,
    "ops.health": health_seconds,
}

OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        name: Operation(contract, _HANDLERS[name], _SECONDS.get(name, other_seconds))
        for name, contract in wire.CONTRACTS.items()
    }
)
