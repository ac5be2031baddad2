"""The operations that write memories: `memory.set`, `set_many`, `update`, `delete`."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from loom_client import wire
from loom_server.engine import browse
from loom_server.errors import Conflict, FieldError, LoomError, NotFound, TooLarge
from loom_server.model.clock import memory_id_of
from loom_server.model.deadline import Deadline
from loom_server.model.memory import Draft, Memory, WriteOutcome
from loom_server.service import answers, intake
from loom_server.service.tenants import Tenants
from loom_server.store.namespaces import ORG_ROW


class Writes(Tenants):
    """The operations that change what is stored."""

    __slots__ = ()

    def set(self, request: wire.MemorySetRequest, deadline: Deadline) -> wire.MemorySetResponse:
        """Write one memory. Raises what refused it."""
        with self.watch.write("memory.set", request) as watched:
            result = self._write((request,), deadline)[0]
            if isinstance(result, LoomError):
                raise result
            watched.written = result
        return result

    def set_many(self, request: wire.MemorySetManyRequest, deadline: Deadline) -> wire.MemorySetManyResponse:
        """Write many; a refused item is an answer of its own."""
        with self.watch.write("memory.set_many", request, len(request.items)) as watched:
            watched.written = answer = self._set_many(request, deadline)
        return answer

    def _set_many(self, request: wire.MemorySetManyRequest, deadline: Deadline) -> wire.MemorySetManyResponse:
        if len(request.items) > self.settings.max_items:
            raise TooLarge.field("items", f"at most {self.settings.max_items} of them; send the rest in a next call")
        requests = tuple(request.requests())
        results = self._write(requests, deadline)
        return answers.sum_up(
            [
                answers.refused(item.memory_key, result) if isinstance(result, LoomError) else result
                for item, result in zip(requests, results, strict=True)
            ]
        )

    def update(self, request: wire.MemoryUpdateRequest, deadline: Deadline) -> wire.MemoryUpdateResponse:
        """Change what is named of a live memory, whoever wrote it.

        The change is made on what was read, and only while that still counts; a writer in
        between is met by reading again, for as long as there is time and the value is the one
        whose hash the request may have named.
        """
        with self.watch.write("memory.update", request) as watched:
            watched.written = answer = self._update(request, deadline)
        return answer

    def _update(self, request: wire.MemoryUpdateRequest, deadline: Deadline) -> wire.MemoryUpdateResponse:
        outcome = self._changed(request, deadline)
        if outcome is None:
            return wire.MemoryUpdateResponse(updated=False, reason="not_found")
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
        with self.watch.write("memory.delete", request) as watched:
            watched.written = answer = self._delete(request, deadline)
        return answer

    def _delete(self, request: wire.MemoryDeleteRequest, deadline: Deadline) -> wire.MemoryDeleteResponse:
        memory = _only(self._holders(request, deadline))
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

    def _changed(self, request: wire.MemoryUpdateRequest, deadline: Deadline) -> WriteOutcome | None:
        while True:
            memory = _only(browse.unexpired(self._holders(request, deadline), self.searcher.clock.now()))
            if memory is None:
                return None
            draft = intake.changed(memory, request)
            if (oversize := self._too_large(draft.value)) is not None:
                raise oversize
            outcome = self._put((draft,), request, deadline)[0]
            if not isinstance(outcome, LoomError):
                return outcome
            # Whoever is overtaken tries again: of those who change one key at once, each round lets one through.
            lost = request.if_match_sha256 not in (None, memory.content_sha256)
            if not isinstance(outcome, Conflict) or lost or deadline.left() <= 0.0:
                raise outcome

    def _write(
        self, requests: tuple[wire.MemorySetRequest, ...], deadline: Deadline
    ) -> tuple[wire.MemorySetResponse | LoomError, ...]:
        """An answer for each request, in order; what is refused here does not reach the writer."""
        drafts = [intake.draft_of(request) for request in requests]
        oversize = {place: error for place, draft in enumerate(drafts) if (error := self._too_large(draft.value))}
        fitting = [draft for place, draft in enumerate(drafts) if place not in oversize]
        outcomes = iter(self._put(fitting, requests[0], deadline))
        return tuple(
            oversize[place] if place in oversize else _answer(draft, next(outcomes))
            for place, draft in enumerate(drafts)
        )

    def _holders(
        self, request: wire.MemoryUpdateRequest | wire.MemoryDeleteRequest, deadline: Deadline
    ) -> tuple[Memory, ...]:
        """The key's newest row of each writer who has one."""
        return browse.by_key(self.searcher.store, intake.scope_of(request), request.memory_key, deadline)

    def _too_large(self, value: str) -> TooLarge | None:
        most = self.settings.max_value_bytes
        if len(value.encode()) <= most:
            return None
        return TooLarge.field("value", f"at most {most} bytes as JSON; cut it into several memories")

    def _put(
        self, drafts: Sequence[Draft], request: wire.Tenant, deadline: Deadline
    ) -> tuple[WriteOutcome | LoomError, ...]:
        """Write drafts of one namespace. Its language, and its org's model, stay what they are until the answer."""
        org, namespace = (request.org, ORG_ROW), (request.org, request.namespace)
        with self.turnstile.passing(org, deadline), self.turnstile.passing(namespace, deadline):
            language = self.preferences(request.org, request.namespace, deadline).language
            return self.writer.write(drafts, deadline, language)


def _only(held: Sequence[Memory]) -> Memory | None:
    """The one row of a key; several writers of it are a conflict that names them."""
    if len(held) > 1:
        raise Conflict(
            f"memory_key: {len(held)} writers hold this key; name one by agent, user_id or session_id.",
            errors=tuple(sorted(map(_writer, held), key=attrgetter("message"))),
        )
    return held[0] if held else None


def _answer(draft: Draft, outcome: WriteOutcome | LoomError) -> wire.MemorySetResponse | LoomError:
    if isinstance(outcome, LoomError):
        return outcome
    return wire.MemorySetResponse(
        memory_key=draft.memory_key,
        version=outcome.version,
        memory_id=memory_id_of(outcome.row_id) if outcome.row_id else "",
        content_sha256=outcome.content_sha256,
        status=outcome.status,
        noop=outcome.noop,
        dry_run=draft.dry_run,
        degraded=outcome.degraded,
    )


def _writer(memory: Memory) -> FieldError:
    i = memory.identity
    named = f"agent={i.agent or '-'} user_id={i.user_id or '-'} session_id={i.session_id or '-'}"
    return FieldError("memory_key", f"held by {named}")
