"""What the methods of the client take, one TypedDict a request.

Generated from the wire's models by tests/support/client_methods.py.
Fields whose feature is not built are left out, so that a type checker refuses them as the service does.
"""

from __future__ import annotations

from datetime import datetime
from typing import Required, TypedDict

from pydantic import JsonValue

from loom_client import wire
from loom_client.wire import words


class ContentFields(TypedDict, total=False):
    """The optional fields of `Content`."""

    memory_type: words.MemoryType
    canonical: str | None
    summary: str | None
    metadata: dict[str, JsonValue]
    tags: list[str]
    category: str
    entities: list[str]
    confidence: float
    source_class: words.SourceClass
    source_trace: str
    source_resource_id: str
    sensitivity: words.Sensitivity
    ttl_seconds: int | None
    valid_at: datetime | str | None
    valid_to: datetime | str | None
    if_match_sha256: str | None


class MemoryItemFields(ContentFields, total=False):
    """The fields of `MemoryItem`."""

    memory_key: Required[str]
    value: Required[JsonValue]
    agent: str | None
    user_id: str | None
    session_id: str | None
    run_id: str | None


class RetrievalDefaultsFields(TypedDict, total=False):
    """The fields of `RetrievalDefaults`."""

    search_mode: words.SearchMode | None
    top_k: int | None
    floor_mode: words.FloorMode | None


class TenantFields(TypedDict, total=False):
    """The optional fields of `Tenant`."""

    org: str
    namespace: str


class WriterFields(TenantFields, total=False):
    """The optional fields of `Writer`."""

    agent: str | None
    user_id: str | None
    session_id: str | None
    run_id: str | None


class MemorySetFields(ContentFields, WriterFields, total=False):
    """The optional fields of `MemorySetRequest`."""

    dry_run: bool


class MemorySetManyFields(WriterFields, total=False):
    """The optional fields of `MemorySetManyRequest`."""

    dry_run: bool


class ReaderFields(TenantFields, total=False):
    """The optional fields of `Reader`."""

    agent: str | None
    user_id: str | None
    session_id: str | None
    run_id: str | None


class MemoryGetFields(ReaderFields, total=False):
    """The optional fields of `MemoryGetRequest`."""

    as_of: datetime | str | None
    if_version: int | None


class MemoryListFields(ReaderFields, total=False):
    """The optional fields of `MemoryListRequest`."""

    prefix: str
    memory_type: words.MemoryType | None
    tags: list[str]
    limit: int
    cursor: str | None
    include_superseded: bool
    count_only: bool


class MemoryUpdateFields(ContentFields, ReaderFields, total=False):
    """The optional fields of `MemoryUpdateRequest`."""

    value: JsonValue
    dry_run: bool


class MemoryDeleteFields(ReaderFields, total=False):
    """The optional fields of `MemoryDeleteRequest`."""


class MemoryHistoryFields(ReaderFields, total=False):
    """The optional fields of `MemoryHistoryRequest`."""

    limit: int


class SearchSelectionFields(ReaderFields, total=False):
    """The optional fields of `SearchSelection`."""

    scope: words.SearchScope
    session_ids: list[str] | None
    memory_type: words.MemoryType | None
    category: str | None
    tags: list[str]
    tags_any: list[str]
    tags_all: list[str]
    tags_none: list[str]
    source_class: words.SourceClass | list[words.SourceClass] | None
    created_after: datetime | str | None
    created_before: datetime | str | None
    valid_from: datetime | str | None
    valid_to: datetime | str | None
    metadata: dict[str, JsonValue]
    quality_filter: bool


class SearchMethodFields(SearchSelectionFields, total=False):
    """The optional fields of `SearchMethod`."""

    search_mode: words.SearchMode | None
    legs: list[words.LegName] | None
    leg_weights: dict[words.LegName, float]
    candidates: dict[words.LegName, int]
    alpha: float | None
    rrf_k: int | None
    rrf_adaptive_lexical: bool | None
    timeout_ms: int | None


class SearchTermsFields(SearchMethodFields, total=False):
    """The optional fields of `SearchTerms`."""


class MemorySearchFields(SearchTermsFields, total=False):
    """The optional fields of `MemorySearchRequest`."""

    top_k: int | None
    include_tags: bool
    include_superseded: bool
    exclude_keys: list[str]
    min_similarity: float | None
    floor_mode: words.FloorMode | None
    explain: bool | None
    page: str | None


class NamespaceGetFields(TenantFields, total=False):
    """The optional fields of `NamespaceGetRequest`."""


class NamespaceSetFields(TenantFields, total=False):
    """The optional fields of `NamespaceSetRequest`."""

    retrieval_defaults: wire.RetrievalDefaults | RetrievalDefaultsFields | None
    language: words.Language | None


class OpsHealthFields(TypedDict, total=False):
    """The optional fields of `OpsHealthRequest`."""


class OpsCapabilitiesFields(TypedDict, total=False):
    """The optional fields of `OpsCapabilitiesRequest`."""


class OpsReembedFields(TypedDict, total=False):
    """The optional fields of `OpsReembedRequest`."""

    action: words.ReembedAction
    org: str | None
