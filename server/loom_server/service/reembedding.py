"""The one re-embedding that a service runs at a time, in a thread of its own, and what it tells of itself.

    idle -> running -> done | failed | cancelled -> running -> …

Starting it again while it runs for the same orgs is no error and changes nothing. A run ends with the service: it is
asked to stop, and waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Lock, Thread
from time import monotonic
from typing import Literal

import structlog

from loom_server.errors import Cancelled, Conflict, LoomError, NotReady
from loom_server.keep.lacking import Lacking, lacking
from loom_server.keep.reembed import Stop, Told
from loom_server.model.deadline import Deadline
from loom_server.observe.metrics import Metrics
from loom_server.store.store import Store

State = Literal["idle", "running", "done", "failed", "cancelled"]
Work = Callable[[Stop, Told], None]

STALE_KEPT_S = 60.0
"""How long a number of stale rows is kept: to count them reads the texts of all of them."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. `characters` are those of the rows that lacked a vector when it began."""

    state: State = "idle"
    org: str | None = None
    orgs: int = 0
    orgs_done: int = 0
    rows_total: int = 0
    rows_done: int = 0
    characters: int = 0
    started_at: datetime | None = None
    ended_at: datetime | None = None
    error: LoomError | None = None

    @property
    def rows_left(self) -> int:
        """Rows that still lack a vector, as far as the run knows."""
        return max(0, self.rows_total - self.rows_done)


class Reembedding:
    """Holds the run; safe from many threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._progress = Progress()
        self._stop = Stop()
        self.thread: Thread | None = None
        """That of the last run."""
        self._closed = False

    @property
    def progress(self) -> Progress:
        """How far the run is, or how the last one ended."""
        return self._progress

    def start(self, org: str | None, work: Work, metrics: Metrics | None = None) -> Progress:
        """Begin `work`. Raises `Conflict` where a run for other orgs goes on, `NotReady` after `close`."""
        with self._lock:
            if self._closed:
                raise NotReady("The service is stopping; start the re-embedding again when it runs.")
            if self._progress.state == "running":
                if self._progress.org == org:
                    return self._progress
                running = self._progress.org or "every org"
                raise Conflict(f"A re-embedding of {running} runs already; wait for its end, or cancel it.")
            self._progress = Progress("running", org, started_at=datetime.now(UTC))
            self._stop = Stop()
            self.thread = Thread(target=self._run, args=(work, self._stop, metrics), name="loom-reembed", daemon=True)
            self.thread.start()
            return self._progress

    def cancel(self) -> Progress:
        """Ask the run to stop; it ends after the batch that it is at."""
        self._stop.ask()
        return self._progress

    def close(self) -> None:
        """Stop for good and wait for the end."""
        with self._lock:
            self._closed = True
            thread = self.thread
        self._stop.ask()
        if thread is not None:
            thread.join()

    def _run(self, work: Work, stop: Stop, metrics: Metrics | None) -> None:
        try:
            work(stop, Told(self._surveyed, lambda rows: self._embedded(rows, metrics), self._finished))
        except Cancelled as error:
            self._end("cancelled", error)
        except LoomError as error:
            self._end("failed", error)
        except Exception as error:  # whoever asks for the status hears of it
            _log.exception("reembed_failed")
            self._end("failed", LoomError(f"{type(error).__name__}: the log of the service tells more."))
        else:
            self._end("done", None)
        if metrics is not None:
            metrics.reembedded(0, 0)

    def _end(self, state: State, error: LoomError | None) -> None:
        ended = replace(self._progress, state=state, error=error, ended_at=datetime.now(UTC))
        self._progress = ended
        code = None if error is None else error.code
        _log.info("reembedded", outcome=state, rows=ended.rows_done, orgs=ended.orgs_done, error=code)

    def _surveyed(self, found: Lacking) -> None:
        self._progress = replace(
            self._progress, orgs=len(found.orgs), rows_total=found.rows, characters=found.characters
        )

    def _embedded(self, rows: int, metrics: Metrics | None) -> None:
        done = self._progress.rows_done + rows
        # Rows that are written meanwhile without a vector come on top.
        self._progress = replace(self._progress, rows_done=done, rows_total=max(done, self._progress.rows_total))
        if metrics is not None:
            metrics.reembedded(rows, self._progress.rows_left)

    def _finished(self, org: str) -> None:
        self._progress = replace(self._progress, orgs_done=self._progress.orgs_done + 1)


class StaleRows:
    """How many rows have no vector of the live model, counted once in `STALE_KEPT_S` at most."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: int | None = None
        self._until = 0.0

    def count(self, store: Store, model: str, deadline: Deadline) -> int | None:
        """The number; where it cannot be counted in time, the one before, or None."""
        with self._lock:
            if monotonic() >= self._until:
                try:
                    self._kept = lacking(store, model, None, deadline).rows
                except LoomError:
                    return self._kept
                self._until = monotonic() + STALE_KEPT_S
            return self._kept

    def forget(self) -> None:
        """Count anew when asked next."""
        with self._lock:
            self._until = 0.0
