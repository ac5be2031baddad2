"""The operations that read memories: `memory.get`, `history`, `list`, `search`."""

from __future__ import annotations

from loom_client import wire
from loom_server.engine import browse
from loom_server.engine.search import SearchResult, Tenant, search
from loom_server.errors import TooLarge
from loom_server.model.deadline import Deadline
from loom_server.plan.defaults import PlanDefaults
from loom_server.service import answers, cursors, intake
from loom_server.service.tenants import Tenants


class Reads(Tenants):
    """The operations that change nothing."""

    __slots__ = ()

    def get(self, request: wire.MemoryGetRequest, deadline: Deadline) -> wire.MemoryGetResponse:
        """The newest version of a key, or `found: false`."""
        scope = intake.scope_of(request)
        held = browse.by_key(self.searcher.store, scope, request.memory_key, deadline, request.as_of)
        found = browse.unexpired(held, request.as_of or self.searcher.clock.now())
        if not found:
            return wire.MemoryGetResponse(found=False)
        newest = max(found, key=lambda memory: memory.id)
        if newest.version == request.if_version:
            return wire.MemoryGetResponse(found=True, unchanged=True)
        return wire.MemoryGetResponse.of(answers.stored(newest))

    def history(self, request: wire.MemoryHistoryRequest, deadline: Deadline) -> wire.MemoryHistoryResponse:
        """Every version of a key, newest first."""
        scope = intake.scope_of(request)
        found = browse.history(self.searcher.store, scope, request.memory_key, request.limit, deadline)
        return wire.MemoryHistoryResponse(found=bool(found), versions=tuple(map(answers.stored, found)))

    def search(self, request: wire.MemorySearchRequest, deadline: Deadline) -> wire.MemorySearchResponse:
        """Rows with a verdict."""
        with self.watch.search(request) as watched:
            result, language = self._searched(request, deadline)
            following = None if result.following is None else cursors.write_page(request, result.following)
            answer = answers.answer(result, tags=request.include_tags, language=language, next_page=following)
            watched.result = result
        return answer

    def _searched(self, request: wire.MemorySearchRequest, deadline: Deadline) -> tuple[SearchResult, str]:
        """What a search came to, and the language of its namespace."""
        if len(request.query) > self.settings.max_query_chars:
            raise TooLarge.field("query", f"at most {self.settings.max_query_chars} characters; ask a shorter question")
        preferences = self.preferences(request.org, request.namespace, deadline)
        defaults = PlanDefaults.of(self.settings, preferences.retrieval_defaults)
        tenant = Tenant(defaults, preferences.language, self.namespaces.model_of(request.org, deadline))
        return search(intake.search_of(request), tenant, self.searcher, deadline), preferences.language

    def list(self, request: wire.MemoryListRequest, deadline: Deadline) -> wire.MemoryListResponse:
        """A page of keys, or how many there are."""
        scope, store = intake.scope_of(request), self.searcher.store
        listing = browse.Listing(
            prefix=request.prefix,
            filters=intake.list_filters(request),
            include_superseded=request.include_superseded,
            moment=self.searcher.clock.now(),
            after=cursors.read(request) if request.cursor is not None else browse.START,
            limit=request.limit + 1,
        )
        if request.count_only:
            return wire.MemoryListResponse(count=browse.count(store, scope, listing, deadline))
        rows = browse.page(store, scope, listing, deadline)
        page = rows[: request.limit]
        more = cursors.write(request, browse.place_of(page[-1])) if len(rows) > request.limit else None
        return wire.MemoryListResponse(memories=tuple(map(answers.stored, page)), next_cursor=more)
