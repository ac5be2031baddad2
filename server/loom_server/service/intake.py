"""From the wire's requests to the values of the stages; nothing is decided here.

`-` stands for "none" on the wire: a write stores it as the empty string, and a read that
names it is narrowed to rows without one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import cast

from pydantic import JsonValue

from loom_client import wire
from loom_server.ingest.content import json_text, plain_text
from loom_server.model.memory import Draft, Memory
from loom_server.model.query import SearchRequest
from loom_server.model.scope import NONE, Filters, Identity, Scope
from loom_server.service import cursors

_COPIED = (
    "memory_type", "canonical", "summary", "category", "confidence", "source_class", "source_trace",
    "source_resource_id", "sensitivity", "ttl_seconds", "valid_at", "valid_to",
)  # fmt: skip
_KEPT = tuple(field.name for field in fields(Draft) if field.name in {other.name for other in fields(Memory)})


def identity_of(request: wire.Writer) -> Identity:
    """Whose a write is."""
    parts = (request.agent, request.user_id, request.session_id, request.run_id)
    return Identity(request.org, request.namespace, *("" if part in (None, NONE) else str(part) for part in parts))


def scope_of(request: wire.Reader) -> Scope:
    """What a read by key may see: all that the request names narrows it."""
    sessions = None if request.session_id is None else (request.session_id,)
    return Scope(request.org, request.namespace, request.agent, request.user_id, sessions, request.run_id)


def draft_of(request: wire.MemorySetRequest) -> Draft:
    """A write as its writer gave it."""
    return Draft(
        identity=identity_of(request),
        memory_key=request.memory_key,
        value=json_text(request.value),
        content=plain_text(request.value),
        metadata=json_text(request.metadata),
        tags=tuple(request.tags),
        entities=tuple(request.entities),
        if_match_sha256=request.if_match_sha256,
        dry_run=request.dry_run,
        **{name: getattr(request, name) for name in _COPIED},
    )


def changed(memory: Memory, request: wire.MemoryUpdateRequest) -> Draft:
    """The stored memory with the request's changes on it; what it does not name stays."""
    kept = {name: getattr(memory, name) for name in _KEPT}
    changes = dict(request.changes())
    if "value" in changes:
        value = cast(JsonValue, changes.pop("value"))
        changes |= {"value": json_text(value), "content": plain_text(value)}
    if "metadata" in changes:
        changes["metadata"] = json_text(cast(JsonValue, changes["metadata"]))
    if "ttl_seconds" in changes:
        changes["expires_at"] = None  # null takes the end away, and seconds set another
    for name in ("tags", "entities"):
        if name in changes:
            changes[name] = tuple(cast("list[str]", changes[name]))
    guards = {"if_match_sha256": request.if_match_sha256, "if_newest": memory.id, "dry_run": request.dry_run}
    return Draft(**{**kept, **changes, **guards})  # type: ignore[arg-type]


def search_of(request: wire.MemorySearchRequest) -> SearchRequest:
    """A search as the stages take it."""
    return SearchRequest(
        query=request.query,
        scope=_search_scope(request),
        filters=_filters(request),
        search_mode=request.search_mode,  # type: ignore[arg-type]  # the wire has refused what is not built
        legs=None if request.legs is None else tuple(request.legs),
        leg_weights=tuple(request.leg_weights.items()),
        candidates=tuple(request.candidates.items()),
        alpha=request.alpha,
        rrf_k=request.rrf_k,
        rrf_adaptive_lexical=request.rrf_adaptive_lexical is not False,
        top_k=request.top_k,
        min_similarity=request.min_similarity,
        floor_mode=request.floor_mode,
        include_superseded=request.include_superseded,
        exclude_keys=tuple(request.exclude_keys),
        explain=bool(request.explain),
        page=None if request.page is None else cursors.read_page(request),
    )


def _search_scope(request: wire.MemorySearchRequest) -> Scope:
    sessions = request.session_ids or ([request.session_id] if request.session_id is not None else None)
    return Scope(
        request.org,
        request.namespace,
        request.agent if request.scope == "agent" else None,
        request.user_id,
        None if sessions is None else tuple(sessions),
        request.run_id,
    )


def _filters(request: wire.MemorySearchRequest) -> Filters:
    classes = request.source_class
    return Filters(
        memory_type=request.memory_type,
        category=request.category,
        tags_any=tuple(request.tags_any or request.tags),
        tags_all=tuple(request.tags_all),
        tags_none=tuple(request.tags_none),
        source_class=() if classes is None else (classes,) if isinstance(classes, str) else tuple(classes),
        created_after=request.created_after,
        created_before=request.created_before,
        valid_from=request.valid_from,
        valid_to=request.valid_to,
        metadata=_metadata(request.metadata),
        min_confidence=wire.LEAST_QUALITY if request.quality_filter else None,
    )


def list_filters(request: wire.MemoryListRequest) -> Filters:
    """The conditions of a list."""
    return Filters(memory_type=request.memory_type, tags_any=tuple(request.tags))


def _metadata(wanted: Mapping[str, JsonValue]) -> tuple[tuple[str, str], ...]:
    return tuple((name, json_text(value)) for name, value in wanted.items())
