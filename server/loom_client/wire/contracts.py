"""The operations of the wire: name, request, answer, and whether it writes.

Every door and the client are made from this one table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from loom_client.wire import hit, memory, memory_read, namespace, ops, search
from loom_client.wire.base import Answer, Request
from loom_client.wire.marks import unbuilt
from loom_client.wire.words import BUILT_LEGS, BUILT_MODES

Access = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Contract:
    """One operation as the wire sees it."""

    name: str
    request: type[Request]
    response: type[Answer]
    access: Access
    summary: str


_TABLE = (
    Contract("memory.set", memory.MemorySetRequest, memory.MemorySetResponse, "write", "Write one memory."),
    Contract(
        "memory.set_many",
        memory.MemorySetManyRequest,
        memory.MemorySetManyResponse,
        "write",
        "Write many memories, with an answer for each.",
    ),
    Contract("memory.get", memory_read.MemoryGetRequest, memory_read.MemoryGetResponse, "read", "Read one memory."),
    Contract(
        "memory.list",
        memory_read.MemoryListRequest,
        memory_read.MemoryListResponse,
        "read",
        "Read memories in the order of their keys, page by page.",
    ),
    Contract(
        "memory.update",
        memory.MemoryUpdateRequest,
        memory.MemoryUpdateResponse,
        "write",
        "Change some fields of a memory and keep the rest.",
    ),
    Contract("memory.delete", memory.MemoryDeleteRequest, memory.MemoryDeleteResponse, "write", "Delete a memory."),
    Contract(
        "memory.history",
        memory_read.MemoryHistoryRequest,
        memory_read.MemoryHistoryResponse,
        "read",
        "Read the versions of a key, newest first.",
    ),
    Contract(
        "memory.search",
        search.MemorySearchRequest,
        hit.MemorySearchResponse,
        "read",
        "Search memories: rows that answer, or an abstain with its reason.",
    ),
    Contract(
        "namespace.get",
        namespace.NamespaceGetRequest,
        namespace.NamespaceResponse,
        "read",
        "Read what a namespace prefers.",
    ),
    Contract(
        "namespace.set",
        namespace.NamespaceSetRequest,
        namespace.NamespaceResponse,
        "write",
        "Change what a namespace prefers.",
    ),
    Contract("ops.health", ops.OpsHealthRequest, ops.OpsHealthResponse, "read", "Tell how the service is."),
    Contract(
        "ops.capabilities",
        ops.OpsCapabilitiesRequest,
        ops.OpsCapabilitiesResponse,
        "read",
        "Tell what the service can do.",
    ),
    Contract(
        "ops.reembed",
        ops.OpsReembedRequest,
        ops.OpsReembedResponse,
        "write",
        "Move vectors to the model of the embedder that serves now.",
    ),
)

CONTRACTS: Mapping[str, Contract] = MappingProxyType({contract.name: contract for contract in _TABLE})


def capabilities(version: str, embedding_model: str, limits: Mapping[str, int]) -> ops.OpsCapabilitiesResponse:
    """The answer of `ops.capabilities`, read off the models themselves."""
    return ops.OpsCapabilitiesResponse(
        version=version,
        operations={name: describe(contract) for name, contract in CONTRACTS.items()},
        search_modes=BUILT_MODES,
        legs=BUILT_LEGS,
        embedding_model=embedding_model,
        limits=dict(limits),
    )


def describe(contract: Contract) -> ops.OperationFields:
    """The fields of one operation, told apart by what is built."""
    refused = dict(not_built(contract.request))
    return ops.OperationFields(
        access=contract.access,
        summary=contract.summary,
        required=tuple(name for name, info in contract.request.model_fields.items() if info.is_required()),
        fields=tuple(path for path in paths(contract.request) if path not in refused),
        not_built=refused,
    )


def paths(model: type[BaseModel]) -> Iterator[str]:
    """Every field of a request, those of nested objects as 'parent.field'."""
    for name, info in model.model_fields.items():
        yield name
        for nested in nested_models(info):
            yield from (f"{name}.{path}" for path in paths(nested))


def not_built(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Every field that is refused, with what to use instead."""
    yield from unbuilt(model).items()
    for name, info in model.model_fields.items():
        for nested in nested_models(info):
            yield from ((f"{name}.{path}", instead) for path, instead in not_built(nested))


def nested_models(info: FieldInfo) -> Iterator[type[Request]]:
    """The request models inside a field's type."""
    pending: list[object] = [info.annotation]
    while pending:
        kind = pending.pop()
        if isinstance(kind, type) and issubclass(kind, Request):
            yield kind
        else:
            pending.extend(get_args(kind))
