"""The operation that moves vectors to the live model: `ops.reembed`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeVar

from loom_client import wire
from loom_server.errors import Conflict, LoomError, StoreError
from loom_server.ingest.memory import MemoryWriter
from loom_server.keep.lacking import lacking
from loom_server.keep.reembed import Reembed, Stop, Told
from loom_server.model.deadline import Deadline
from loom_server.model.memory import Key
from loom_server.service.reembedding import Progress
from loom_server.service.tenants import Tenants
from loom_server.service.turnstile import Turnstile
from loom_server.store.claims import Claim, Claimed, Claims
from loom_server.store.namespaces import ORG_ROW

T = TypeVar("T")

HELD_S = 120.0
"""How long a claim on the one run of a store is good; it is made anew long before."""
RENEWED_S = 30.0
_RUN = Claim(Key("-", "-", "reembed", "", "", ""), 0)


@dataclass(slots=True)
class Lease:
    """The right to the one run of a store that several processes share; without `claims` nobody else could run one."""

    claims: Claims | None
    claimed: Claimed | None = None
    renew_at: float = 0.0

    def hold(self) -> None:
        """Take the right or keep it. Raises `Conflict` where another process has it, and a `StoreError`."""
        if self.claims is None or monotonic() < self.renew_at:
            return
        taken = self.claims.take([_RUN], monotonic(), HELD_S)
        if taken.contested:
            raise Conflict(
                "Another process moves vectors on this store; wait for its end. Of one that was killed the right ends"
                f" {taken.seconds} s after its last step."
            )
        self.release()
        self.claimed, self.renew_at = taken, monotonic() + RENEWED_S

    def release(self) -> None:
        """Let others have it; one that cannot be given back ends by itself."""
        if self.claims is not None and self.claimed is not None:
            with suppress(StoreError):
                self.claims.give_back(self.claimed)
        self.claimed, self.renew_at = None, 0.0


@dataclass(frozen=True, slots=True)
class Moments:
    """The writer's quiet moments, as a re-embedding needs them, and its right to run."""

    writer: MemoryWriter
    turnstile: Turnstile
    lease: Lease = field(default_factory=lambda: Lease(None))

    def hold(self) -> None:
        """Keep other processes from a run of their own."""
        self.lease.hold()

    def between(self, work: Callable[[], T], deadline: Deadline) -> T:
        """Nothing is being written and nothing is owed."""
        return self.writer.between_groups(work, deadline)

    def alone(self, org: str, work: Callable[[], T], deadline: Deadline) -> T:
        """The same, and no write of the org has been begun that is not answered."""
        with self.turnstile.alone((org, ORG_ROW), deadline):
            # A write whose caller gave up may still be in the writer's hands.
            return self.writer.between_groups(work, deadline)


class Upkeep(Tenants):
    """What an operator asks a service to do."""

    __slots__ = ()

    def reembed(self, request: wire.OpsReembedRequest, deadline: Deadline) -> wire.OpsReembedResponse:
        """Count, start, watch or cancel the one re-embedding."""
        match request.action:
            case "plan":
                return self._planned(request.org, deadline)
            case "start":
                return self._progress(self.reembedding.start(request.org, self._work(request.org), self.watch.metrics))
            case "cancel":
                return self._progress(self.reembedding.cancel())
            case _:
                return self._progress(self.reembedding.progress)

    def _work(self, org: str | None) -> Callable[[Stop, Told], None]:
        searcher = self.searcher

        def work(stop: Stop, told: Told) -> None:
            moments = Moments(self.writer, self.turnstile, Lease(self.namespaces.process.claims))
            try:
                Reembed(
                    searcher.store, searcher.embedder, searcher.statistics, self.namespaces, moments, stop, told
                ).run(org)
            finally:
                moments.lease.release()
                self.stale.forget()

        return work

    def _planned(self, org: str | None, deadline: Deadline) -> wire.OpsReembedResponse:
        found = lacking(self.searcher.store, self.searcher.embedder.identity.name, org, deadline)
        planned = Progress(org=org, orgs=len(found.orgs), rows_total=found.rows, characters=found.characters)
        return self._progress(planned, "planned")

    def _progress(self, progress: Progress, state: wire.ReembedState | None = None) -> wire.OpsReembedResponse:
        error: LoomError | None = progress.error
        return wire.OpsReembedResponse(
            state=state or progress.state,
            model=self.searcher.embedder.identity.name,
            org=progress.org,
            orgs=progress.orgs,
            orgs_done=progress.orgs_done,
            rows_total=progress.rows_total,
            rows_done=progress.rows_done,
            rows_left=progress.rows_left,
            characters=progress.characters,
            started_at=progress.started_at,
            ended_at=progress.ended_at,
            error_code=error and error.code,
            error=error and error.message,
        )
