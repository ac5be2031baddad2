"""Starting beside listening: the services are built in a thread while the doors already answer.

`current` is what the doors ask: None while the services start, the services once they have, the
error that stopped them from starting, and `NotReady` once they are to stop. What nobody foresaw in a
start is not kept from the caller of `serve`: it is raised there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from loom_server.api.operations import Handlers
from loom_server.errors import LoomError, NotReady

STOPPING_RETRY_S = 1.0
"""Another process may answer behind the same address at once."""


class Opened(Handlers, Protocol):
    """Services that can be closed."""

    def close(self) -> None: ...


class Startup:
    """One start of the services. `failed` is called, in the thread, where it does not succeed."""

    def __init__(self, build: Callable[[], Opened], failed: Callable[[], None]) -> None:
        self._build = build
        self._failed = failed
        self._services: Opened | None = None
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="loom-start")
        self.error: BaseException | None = None

    def begin(self) -> None:
        """Start building."""
        self._thread.start()

    def current(self) -> Handlers | None:
        """The services, None while they start. Raises what stopped their start, and `NotReady` after `stop`."""
        if isinstance(self.error, LoomError):
            raise self.error
        if self.error is not None:
            raise NotReady("The service could not start; its log says why.")
        if self._stopping:
            raise NotReady("The service is stopping; send the call again.", retry_after_s=STOPPING_RETRY_S)
        return self._services

    def stop(self) -> None:
        """Give the services to no new call. Safe in a signal handler."""
        self._stopping = True

    def end(self) -> None:
        """Wait for a start that is under way, and close what it opened."""
        self._thread.join()
        if self._services is not None:
            self._services.close()

    def _run(self) -> None:
        try:
            self._services = self._build()
        except BaseException as error:
            self.error = error
            self._failed()
