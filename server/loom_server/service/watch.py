"""What a service tells of its searches and writes: to its metrics and to the log.

Each operation runs in a block that is timed and whose end is told, however it ends; its answer is not
touched. Without metrics and with a log above `info` a block costs a few microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import perf_counter
from typing import TypeAlias

from loom_client import wire
from loom_server.engine.search import SearchResult
from loom_server.observe import logs
from loom_server.observe.labels import code_of, outcome_of
from loom_server.observe.metrics import Metrics
from loom_server.observe.seen import SearchSeen, WriteSeen

WriteAnswer: TypeAlias = (
    wire.MemorySetResponse | wire.MemorySetManyResponse | wire.MemoryUpdateResponse | wire.MemoryDeleteResponse
)


class Watched:
    """Filled inside a watched block with what it came to."""

    __slots__ = ("result", "written")

    def __init__(self) -> None:
        self.result: SearchResult | None = None
        self.written: WriteAnswer | None = None


class Watch:
    """Tells the metrics, where there are any, and the log."""

    def __init__(self, metrics: Metrics | None = None, hasher: logs.Hasher | None = None) -> None:
        self.metrics = metrics
        self._hasher = hasher or logs.Hasher()

    @contextmanager
    def search(self, request: wire.MemorySearchRequest) -> Generator[Watched]:
        """Watch one search; the block leaves its `result`."""

        def told(watched: Watched, error: BaseException | None, seconds: float) -> None:
            if error is not None:
                self._searched(_failed(request, error, seconds))
            elif watched.result is not None:
                self._searched(_found(watched.result, seconds))

        with _watching(told) as watched:
            yield watched

    @contextmanager
    def write(self, operation: str, request: wire.Tenant, rows: int = 1) -> Generator[Watched]:
        """Watch one write operation over `rows` memories; the block leaves what was `written`."""

        def told(watched: Watched, error: BaseException | None, seconds: float) -> None:
            written = _written(watched.written)
            seen = WriteSeen(
                org=request.org,
                namespace=request.namespace,
                operation=operation,
                outcome=_outcome(watched.written, written) if error is None else outcome_of(error),
                seconds=seconds,
                rows=rows,
                written=written,
                degraded=_degraded(watched.written),
                error=None if error is None else code_of(error),
            )
            if self.metrics is not None:
                self.metrics.wrote(seen)
            logs.wrote(seen, self._hasher)

        with _watching(told) as watched:
            yield watched

    def _searched(self, seen: SearchSeen) -> None:
        if self.metrics is not None:
            self.metrics.searched(seen)
        logs.searched(seen, self._hasher)


@contextmanager
def _watching(told: Callable[[Watched, BaseException | None, float], None]) -> Generator[Watched]:
    """A timed block; `told` hears what it left, its error and its seconds, however it ends."""
    watched, start = Watched(), perf_counter()
    try:
        yield watched
    except BaseException as error:
        told(watched, error, perf_counter() - start)
        raise
    told(watched, None, perf_counter() - start)


def _failed(request: wire.MemorySearchRequest, error: BaseException, seconds: float) -> SearchSeen:
    return SearchSeen(
        request.org,
        request.namespace,
        request.search_mode or "",
        outcome_of(error),
        seconds,
        error=code_of(error),
    )


def _found(result: SearchResult, seconds: float) -> SearchSeen:
    scope, window, verdict = result.request.scope, result.window, result.verdict
    return SearchSeen(
        org=scope.org,
        namespace=scope.namespace,
        mode=result.plan.mode,
        outcome="abstained" if verdict.abstain else "answered",
        seconds=seconds,
        legs=result.legs,
        pooled=result.pooled,
        served=len(window.rows),
        abstain=verdict.code if verdict.abstain else None,
        degraded=result.degraded,
        similarity=window.best_similarity if window.rows and result.query.has_vector else None,
    )


def _written(answer: WriteAnswer | None) -> int:
    """Memories of which the operation changed what is stored."""
    match answer:
        case wire.MemorySetResponse():
            return int(not answer.noop and not answer.dry_run)
        case wire.MemorySetManyResponse():
            return answer.written
        case wire.MemoryUpdateResponse():
            return int(answer.updated)
        case wire.MemoryDeleteResponse():
            return int(answer.tombstoned)
        case None:
            return 0


def _outcome(answer: WriteAnswer | None, written: int) -> str:
    if isinstance(answer, wire.MemorySetManyResponse) and answer.refused:
        return "partial" if answer.refused < len(answer.results) else "refused"
    return "written" if written else "unchanged"


def _degraded(answer: WriteAnswer | None) -> tuple[str, ...]:
    match answer:
        case wire.MemorySetResponse() | wire.MemoryUpdateResponse():
            return tuple(answer.degraded)
        case wire.MemorySetManyResponse():
            stored = (one for one in answer.results if isinstance(one, wire.MemorySetResponse))
            return tuple(dict.fromkeys(part for one in stored for part in one.degraded))
        case _:
            return ()
