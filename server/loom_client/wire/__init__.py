"""The wire: what requests and answers hold, shared by the service and its clients.

`contracts` is the table of operations; `marks` says which known fields are not built.
"""

from __future__ import annotations

from loom_client.wire.base import Answer, Request
from loom_client.wire.contracts import CONTRACTS, Contract, capabilities
from loom_client.wire.fields import NONE
from loom_client.wire.hit import Hit, LegEvidence, MatchedTerm, MemorySearchResponse, RetrievalWork
from loom_client.wire.identity import DEFAULT_NAMESPACE, DEFAULT_ORG, Reader, Tenant, Writer
from loom_client.wire.marks import BuiltOnly, NotBuilt
from loom_client.wire.memory import (
    MemoryDeleteRequest,
    MemoryDeleteResponse,
    MemoryItem,
    MemoryRefused,
    MemorySetManyRequest,
    MemorySetManyResponse,
    MemorySetRequest,
    MemorySetResponse,
    MemoryUpdateRequest,
    MemoryUpdateResponse,
)
from loom_client.wire.memory_read import (
    MemoryGetRequest,
    MemoryGetResponse,
    MemoryHistoryRequest,
    MemoryHistoryResponse,
    MemoryListRequest,
    MemoryListResponse,
    StoredMemory,
)
from loom_client.wire.namespace import (
    NamespaceGetRequest,
    NamespaceResponse,
    NamespaceSetRequest,
    RetrievalDefaults,
    StoredDefaults,
)
from loom_client.wire.ops import (
    HealthCheck,
    OperationFields,
    OpsCapabilitiesRequest,
    OpsCapabilitiesResponse,
    OpsHealthRequest,
    OpsHealthResponse,
    OpsReembedRequest,
    OpsReembedResponse,
    ReembedState,
    StartProgress,
)
from loom_client.wire.problem import FieldProblem, Problem, ProblemBody, StartProblem
from loom_client.wire.search import LEAST_QUALITY, MemorySearchRequest
from loom_client.wire.words import BUILT_LEGS, BUILT_MODES

__all__ = [
    "BUILT_LEGS",
    "BUILT_MODES",
    "CONTRACTS",
    "DEFAULT_NAMESPACE",
    "DEFAULT_ORG",
    "LEAST_QUALITY",
    "NONE",
    "Answer",
    "BuiltOnly",
    "Contract",
    "FieldProblem",
    "HealthCheck",
    "Hit",
    "LegEvidence",
    "MatchedTerm",
    "MemoryDeleteRequest",
    "MemoryDeleteResponse",
    "MemoryGetRequest",
    "MemoryGetResponse",
    "MemoryHistoryRequest",
    "MemoryHistoryResponse",
    "MemoryItem",
    "MemoryListRequest",
    "MemoryListResponse",
    "MemoryRefused",
    "MemorySearchRequest",
    "MemorySearchResponse",
    "MemorySetManyRequest",
    "MemorySetManyResponse",
    "MemorySetRequest",
    "MemorySetResponse",
    "MemoryUpdateRequest",
    "MemoryUpdateResponse",
    "NamespaceGetRequest",
    "NamespaceResponse",
    "NamespaceSetRequest",
    "NotBuilt",
    "OperationFields",
    "OpsCapabilitiesRequest",
    "OpsCapabilitiesResponse",
    "OpsHealthRequest",
    "OpsHealthResponse",
    "OpsReembedRequest",
    "OpsReembedResponse",
    "Problem",
    "ProblemBody",
    "Reader",
    "ReembedState",
    "Request",
    "RetrievalDefaults",
    "RetrievalWork",
    "StartProblem",
    "StartProgress",
    "StoredDefaults",
    "StoredMemory",
    "Tenant",
    "Writer",
    "capabilities",
]
