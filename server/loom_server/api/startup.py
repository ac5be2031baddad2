"""Starting beside listening: the services are built in a thread while the doors already answer.

`current` is what the doors ask: None while the services start, the services once they have, the
error that stopped them from starting, and `NotReady` once they are to stop. What nobody foresaw in a
start is not kept from the caller of `serve`: it is raised there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from loom_client.wire import StartProgress
from loom_server.api.operations import Handlers
from loom_server.errors import LoomError, NotReady
from loom_server.observe.stages import Stages

STARTING_RETRY_S = 1.0
STOPPING_RETRY_S = 1.0
"""Another process may answer behind the same address at once."""

Progress = Callable[[], tuple[StartProgress, LoomError | None]]
"""How far the start is, and the error that stopped it."""


class Opened(Handlers, Protocol):
    """Services that can be closed."""

    def close(self) -> None: ...


class Startup:
    """One start of the services. `failed` is called, in the thread, where it does not succeed.

    `stages` is told by `build` which stage runs.
    """

    def __init__(self, build: Callable[[], Opened], failed: Callable[[], None], stages: Stages | None = None) -> None:
        self._build = build
        self._failed = failed
        self._stages = stages or Stages()
        self._services: Opened | None = None
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="loom-start")
        self.error: BaseException | None = None

    def begin(self) -> None:
        """Start building."""
        self._thread.start()

    def current(self) -> Handlers | None:
        """The services, None while they start. Raises what stopped their start, and `NotReady` after `stop`."""
        if (error := self._told()) is not None:
            raise error
        if self._stopping:
            raise NotReady("The service is stopping; send the call again.", retry_after_s=STOPPING_RETRY_S)
        return self._services

    def progress(self) -> tuple[StartProgress, LoomError | None]:
        """How far the start is, and the error that stopped it."""
        error, running = self._told(), self._stages.running
        told = StartProgress(
            status="failed" if error else "starting" if self._services is None else "started",
            stage=running[0] if running else None,
            stage_ms=round(running[1] * 1000.0, 1) if running else None,
            ms={stage: round(took, 1) for stage, took in self._stages.done.items()},
        )
        return told, error

    def stop(self) -> None:
        """Give the services to no new call. Safe in a signal handler."""
        self._stopping = True

    def end(self) -> None:
        """Wait for a start that is under way, and close what it opened."""
        self._thread.join()
        if self._services is not None:
            self._services.close()

    def _told(self) -> LoomError | None:
        """What callers are told of the error that stopped the start."""
        if self.error is None or isinstance(self.error, LoomError):
            return self.error
        return NotReady("The service could not start; its log says why.")

    def _run(self) -> None:
        try:
            self._services = self._build()
        except BaseException as error:
            self.error = error
            self._failed()


def seen_of(provider: Callable[[], Handlers | None]) -> Progress:
    """What is seen of a start by asking for the services alone."""

    def progress() -> tuple[StartProgress, LoomError | None]:
        try:
            started = provider() is not None
        except LoomError as error:
            return StartProgress(status="failed", ms={}), error
        return StartProgress(status="started" if started else "starting", ms={}), None

    return progress
