"""Every operation of the service: a wire request and a deadline in, a wire answer out.

The doors (HTTP, JSON-RPC, the shell) call these methods and nothing below them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from loom_client import wire
from loom_server import __version__
from loom_server.engine import browse
from loom_server.engine.search import Searcher, Tenant, search
from loom_server.errors import Conflict, FieldError, InvalidInput, LoomError, NotFound, TooLarge
from loom_server.ingest.memory import MemoryWriter
from loom_server.model.clock import memory_id_of
from loom_server.model.deadline import Deadline
from loom_server.model.memory import Memory
from loom_server.model.scope import Scope
from loom_server.plan.defaults import PlanDefaults
from loom_server.service import answers, cursors, intake
from loom_server.service.health import health_of
from loom_server.settings import Settings
from loom_server.store.namespaces import Namespaces

UPDATE_TRIES = 5


@dataclass(frozen=True, slots=True)
class Services:
    """The operations over one store; safe from many threads."""

    searcher: Searcher
    writer: MemoryWriter
    namespaces: Namespaces
    settings: Settings
    started: float

    def set(self, request: wire.MemorySetRequest, deadline: Deadline) -> wire.MemorySetResponse:
        """Write one memory. Raises what refused it."""
        result = self._write((request,), request.org, request.namespace, deadline)[0]
        if isinstance(result, LoomError):
            raise result
        return result

    def set_many(self, request: wire.MemorySetManyRequest, deadline: Deadline) -> wire.MemorySetManyResponse:
        """Write many; a refused item is an answer of its own."""
        if len(request.items) > self.settings.max_items:
            raise TooLarge.field("items", f"at most {self.settings.max_items} of them; send the rest in a next call")
        requests = tuple(request.requests())
        results = self._write(requests, request.org, request.namespace, deadline)
        return answers.sum_up(
            [
                answers.refused(item.memory_key, problem_of(result)) if isinstance(result, LoomError) else result
                for item, result in zip(requests, results, strict=True)
            ]
        )

    def get(self, request: wire.MemoryGetRequest, deadline: Deadline) -> wire.MemoryGetResponse:
        """The newest version of a key, or `found: false`."""
        scope = intake.scope_of(request)
        found = browse.by_key(self.searcher.store, scope, request.memory_key, deadline, request.as_of)
        if not found:
            return wire.MemoryGetResponse(found=False)
        newest = max(found, key=lambda memory: memory.id)
        if newest.version == request.if_version:
            return wire.MemoryGetResponse(found=True, unchanged=True)
        return wire.MemoryGetResponse.of(answers.stored(newest))

    def list(self, request: wire.MemoryListRequest, deadline: Deadline) -> wire.MemoryListResponse:
        """A page of keys, or how many there are."""
        scope, store = intake.scope_of(request), self.searcher.store
        listing = browse.Listing(
            prefix=request.prefix,
            filters=intake.list_filters(request),
            include_superseded=request.include_superseded,
            after=cursors.read(request) if request.cursor is not None else browse.START,
            limit=request.limit + 1,
        )
        if request.count_only:
            return wire.MemoryListResponse(count=browse.count(store, scope, listing, deadline))
        rows = browse.page(store, scope, listing, deadline)
        page = rows[: request.limit]
        more = cursors.write(request, browse.place_of(page[-1])) if len(rows) > request.limit else None
        return wire.MemoryListResponse(memories=tuple(map(answers.stored, page)), next_cursor=more)

    def history(self, request: wire.MemoryHistoryRequest, deadline: Deadline) -> wire.MemoryHistoryResponse:
        """Every version of a key, newest first."""
        scope = intake.scope_of(request)
        found = browse.history(self.searcher.store, scope, request.memory_key, request.limit, deadline)
        return wire.MemoryHistoryResponse(found=bool(found), versions=tuple(map(answers.stored, found)))

    def update(self, request: wire.MemoryUpdateRequest, deadline: Deadline) -> wire.MemoryUpdateResponse:
        """Change what is named of a live memory, whoever wrote it.

        The change is made on what was read, and only while that still counts; a writer in
        between is met by reading again, unless the request itself named the hash it expects.
        """
        for _ in range(UPDATE_TRIES):
            memory = self._one_live(request, request.memory_key, deadline)
            if memory is None:
                return wire.MemoryUpdateResponse(updated=False, reason="not_found")
            draft = intake.changed(memory, request, self.searcher.clock.now())
            self._check_value(draft.value)
            outcome = self.writer.write((draft,), deadline, self._language(request.org, request.namespace))[0]
            if not isinstance(outcome, Conflict):
                break
            if request.if_match_sha256 is not None:
                raise outcome
        if isinstance(outcome, LoomError):
            raise outcome
        reason = "dry_run" if request.dry_run else "unchanged" if outcome.noop else None
        return wire.MemoryUpdateResponse(
            updated=reason is None,
            reason=reason,
            memory_key=request.memory_key,
            version=outcome.version,
            memory_id=memory_id_of(outcome.row_id) if outcome.row_id else "",
            content_sha256=outcome.content_sha256,
            status=outcome.status,
            degraded=outcome.degraded,
        )

    def delete(self, request: wire.MemoryDeleteRequest, deadline: Deadline) -> wire.MemoryDeleteResponse:
        """Close a live key with a tombstone; a key that is not there is no error."""
        memory = self._one_live(request, request.memory_key, deadline)
        outcome = None if memory is None else self.writer.delete((memory.key,), deadline)[0]
        if outcome is None or isinstance(outcome, NotFound):
            return wire.MemoryDeleteResponse(found=False, tombstoned=False, memory_key=request.memory_key)
        if isinstance(outcome, LoomError):
            raise outcome
        return wire.MemoryDeleteResponse(
            found=True,
            tombstoned=True,
            memory_key=request.memory_key,
            version=outcome.version,
            memory_id=memory_id_of(outcome.row_id),
        )

    def search(self, request: wire.MemorySearchRequest, deadline: Deadline) -> wire.MemorySearchResponse:
        """Rows with a verdict."""
        if len(request.query) > self.settings.max_query_chars:
            raise TooLarge.field("query", f"at most {self.settings.max_query_chars} characters; ask a shorter question")
        preferences = self.namespaces.preferences(request.org, request.namespace, deadline)
        defaults = PlanDefaults.of(self.settings, cast("dict[str, object]", preferences.get("retrieval_defaults", {})))
        language = str(preferences.get("language", "en"))
        tenant = Tenant(defaults, language, self.namespaces.model_of(request.org, deadline))
        result = search(intake.search_of(request), tenant, self.searcher, deadline)
        return answers.answer(result, tags=request.include_tags, language=language)

    def namespace_get(self, request: wire.NamespaceGetRequest, deadline: Deadline) -> wire.NamespaceResponse:
        """What the namespace prefers."""
        preferences = self.namespaces.preferences(request.org, request.namespace, deadline)
        chosen = cast("dict[str, object]", preferences.get("retrieval_defaults", {}))
        at = preferences.get("updated_at")
        return wire.NamespaceResponse(
            org=request.org,
            namespace=request.namespace,
            retrieval_defaults=wire.StoredDefaults.model_validate(
                {name: chosen.get(name) for name in wire.StoredDefaults.model_fields}
            ),
            language=str(preferences.get("language", "en")),
            embedding_model=self.namespaces.model_of(request.org, deadline),
            updated_at=datetime.fromisoformat(str(at)) if at else None,
        )

    def namespace_set(self, request: wire.NamespaceSetRequest, deadline: Deadline) -> wire.NamespaceResponse:
        """Change what the namespace prefers; what the request does not name stays."""
        preferences = self.namespaces.preferences(request.org, request.namespace, deadline)
        chosen = dict(cast("dict[str, object]", preferences.get("retrieval_defaults", {})))
        if request.retrieval_defaults is not None:
            given = request.retrieval_defaults
            chosen |= {name: getattr(given, name) for name in given.model_fields_set}
            self._check_top_k(given.top_k)
        if request.language is not None:
            self._check_language(request, str(preferences.get("language", "en")), deadline)
            preferences["language"] = request.language
        preferences["retrieval_defaults"] = {name: value for name, value in chosen.items() if value is not None}
        preferences["updated_at"] = self.searcher.clock.now().astimezone(UTC).isoformat()
        self.namespaces.set_preferences(request.org, request.namespace, preferences)
        return self.namespace_get(wire.NamespaceGetRequest(org=request.org, namespace=request.namespace), deadline)

    def health(self, request: wire.OpsHealthRequest, deadline: Deadline) -> wire.OpsHealthResponse:
        """How the service is, by what it can do right now."""
        return health_of(self.searcher.store, self.searcher.embedder, time.monotonic() - self.started, deadline)

    def capabilities(self, request: wire.OpsCapabilitiesRequest, deadline: Deadline) -> wire.OpsCapabilitiesResponse:
        """What the service can do, read off the wire's own models."""
        limits = {
            "body_bytes": self.settings.max_body_bytes,
            "query_chars": self.settings.max_query_chars,
            "value_bytes": self.settings.max_value_bytes,
            "top_k": self.settings.memory_search_top_k_ceiling,
            "batch": self.settings.max_batch,
            "items": self.settings.max_items,
            "nesting": self.settings.max_nesting,
            "timeout_ms": self.settings.memory_search_timeout_ms,
        }
        return wire.capabilities(__version__, self.searcher.embedder.identity.name, limits)

    def close(self) -> None:
        """Let running work end, then let the store go."""
        self.writer.close()
        self.searcher.executor.shutdown()
        self.searcher.store.close()

    def _write(
        self, requests: tuple[wire.MemorySetRequest, ...], org: str, namespace: str, deadline: Deadline
    ) -> tuple[wire.MemorySetResponse | LoomError, ...]:
        drafts = [intake.draft_of(request) for request in requests]
        for index, draft in enumerate(drafts):
            self._check_value(draft.value, f"items.{index}.value" if len(drafts) > 1 else "value")
        outcomes = self.writer.write(drafts, deadline, self._language(org, namespace))
        return tuple(
            outcome
            if isinstance(outcome, LoomError)
            else wire.MemorySetResponse(
                memory_key=draft.memory_key,
                version=outcome.version,
                memory_id=memory_id_of(outcome.row_id) if outcome.row_id else "",
                content_sha256=outcome.content_sha256,
                status=outcome.status,
                noop=outcome.noop,
                dry_run=draft.dry_run,
                degraded=outcome.degraded,
            )
            for draft, outcome in zip(drafts, outcomes, strict=True)
        )

    def _one_live(self, request: wire.Reader, memory_key: str, deadline: Deadline) -> Memory | None:
        """The one live row of the key; several writers of it are a conflict that names them."""
        found = browse.by_key(self.searcher.store, intake.scope_of(request), memory_key, deadline)
        if len(found) > 1:
            writers = tuple(
                FieldError("memory_key", f"agent={i.agent or '-'} user_id={i.user_id or '-'} session_id={i.session_id or '-'}")
                for i in (memory.identity for memory in found)
            )
            raise Conflict(
                f"memory_key: {len(found)} writers hold this key; name one by agent, user_id or session_id.",
                errors=writers,
            )
        return found[0] if found else None

    def _language(self, org: str, namespace: str) -> str:
        return str(self.namespaces.preferences(org, namespace).get("language", "en"))

    def _check_value(self, value: str, path: str = "value") -> None:
        if len(value.encode()) > self.settings.max_value_bytes:
            raise TooLarge.field(path, f"at most {self.settings.max_value_bytes} bytes as JSON; cut it into parts")

    def _check_top_k(self, top_k: int | None) -> None:
        ceiling = self.settings.memory_search_top_k_ceiling
        if top_k is not None and top_k > ceiling:
            raise InvalidInput.field("retrieval_defaults.top_k", f"at most {ceiling}, the ceiling of this service")

    def _check_language(self, request: wire.NamespaceSetRequest, current: str, deadline: Deadline) -> None:
        if request.language == current:
            return
        listing = browse.Listing(include_superseded=True)
        if browse.count(self.searcher.store, Scope(request.org, request.namespace), listing, deadline):
            raise Conflict(
                "language: the namespace holds memories that were analysed as "
                f"'{current}'; set the language before the first memory, or use a new namespace."
            )


def problem_of(error: LoomError) -> wire.Problem:
    """The wire's shape of an error."""
    return wire.Problem(
        code=error.code,
        message=error.message,
        category=error.category,
        retryable=error.retryable,
        retry_after_s=error.retry_after_s,
        errors=tuple(wire.FieldProblem(path=field.path, message=field.message) for field in error.errors),
    )
