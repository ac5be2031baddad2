"""Writing and asking in one line, for tests over real services."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loom_client import wire
from loom_server.model.deadline import Deadline
from loom_server.service.services import Services

SECONDS = 60.0


class Space:
    """One org of a service; every call takes the fields of the wire's request."""

    def __init__(self, services: Services, org: str, namespace: str = "local") -> None:
        self.services = services
        self.tenant = {"org": org, "namespace": namespace}

    def other(self, **tenant: str) -> Space:
        """The same service with another org or namespace."""
        return Space(self.services, **{**self.tenant, **tenant})

    def set(self, memory_key: str, value: object, **fields: object) -> wire.MemorySetResponse:
        body = {**self.tenant, "memory_key": memory_key, "value": value, **fields}
        return self.services.set(wire.MemorySetRequest.model_validate(body), Deadline(SECONDS))

    def fill(self, rows: Mapping[str, object], **fields: object) -> wire.MemorySetManyResponse:
        return self.set_many([{"memory_key": key, "value": value} for key, value in rows.items()], **fields)

    def set_many(self, items: Sequence[Mapping[str, object]], **fields: object) -> wire.MemorySetManyResponse:
        body = {**self.tenant, "items": items, **fields}
        return self.services.set_many(wire.MemorySetManyRequest.model_validate(body), Deadline(SECONDS))

    def search(self, query: str, **fields: object) -> wire.MemorySearchResponse:
        body = {**self.tenant, "query": query, **fields}
        return self.services.search(wire.MemorySearchRequest.model_validate(body), Deadline(SECONDS))

    def keys(self, query: str, **fields: object) -> list[str]:
        return [hit.memory_key for hit in self.search(query, **fields).results]

    def get(self, memory_key: str, **fields: object) -> wire.MemoryGetResponse:
        body = {**self.tenant, "memory_key": memory_key, **fields}
        return self.services.get(wire.MemoryGetRequest.model_validate(body), Deadline(SECONDS))

    def list(self, **fields: object) -> wire.MemoryListResponse:
        return self.services.list(wire.MemoryListRequest.model_validate({**self.tenant, **fields}), Deadline(SECONDS))

    def history(self, memory_key: str, **fields: object) -> wire.MemoryHistoryResponse:
        body = {**self.tenant, "memory_key": memory_key, **fields}
        return self.services.history(wire.MemoryHistoryRequest.model_validate(body), Deadline(SECONDS))

    def update(self, memory_key: str, **fields: object) -> wire.MemoryUpdateResponse:
        body = {**self.tenant, "memory_key": memory_key, **fields}
        return self.services.update(wire.MemoryUpdateRequest.model_validate(body), Deadline(SECONDS))

    def delete(self, memory_key: str, **fields: object) -> wire.MemoryDeleteResponse:
        body = {**self.tenant, "memory_key": memory_key, **fields}
        return self.services.delete(wire.MemoryDeleteRequest.model_validate(body), Deadline(SECONDS))

    def prefer(self, **fields: object) -> wire.NamespaceResponse:
        body = {**self.tenant, **fields}
        return self.services.namespace_set(wire.NamespaceSetRequest.model_validate(body), Deadline(SECONDS))
