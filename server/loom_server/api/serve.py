"""Listening: first the port, then the services, on loopback alone; and the way to the end.

    signal    new calls are answered with 503, those that run go on, /health/ready says why
    after     LOOM_DRAIN_GRACE_SECONDS, and as soon as no call runs, but LOOM_DRAIN_SECONDS at most:
              the listeners close, what still runs is given up, the store closes

The first lets a balancer see that the service stops before connections to it fail. A second signal goes on to the end
at once; Ctrl-C has no grace, since nobody balances there. The store is closed in order each time.

No key can be configured yet, so an address that other machines reach is refused, unless LOOM_TRUSTED_NETWORK says
that whoever reaches it may read and write everything.
"""

from __future__ import annotations

import math
import signal
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from time import monotonic
from types import FrameType

import uvicorn
from anyio import to_thread
from fastapi import FastAPI

from loom_server.api.app import create_app
from loom_server.api.edge import is_loopback
from loom_server.api.startup import Opened, Startup
from loom_server.errors import ConfigError
from loom_server.observe import logs
from loom_server.observe.metrics import Metrics
from loom_server.observe.stages import Stages
from loom_server.settings import Settings

_BACKLOG = 1024


def check_bind(host: str, trusted_network: bool = False) -> None:
    """Refuse an address that others could reach, unless they are trusted. Raises `ConfigError`."""
    if not is_loopback(host) and not (trusted_network and host):
        raise ConfigError(
            f"LOOM_HOST is '{host}', which other machines can reach, and callers cannot be told apart:"
            " keys are not built yet. Use 127.0.0.1, ::1 or localhost, or set LOOM_TRUSTED_NETWORK=true"
            " where everyone who reaches that address may read and write every memory."
        )


def listen(host: str, port: int, trusted_network: bool = False) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises `ConfigError` where the port is taken."""
    check_bind(host, trusted_network)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's delay off only for sockets that say they are TCP; without it an answer waits 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise ConfigError(
            f"Cannot listen on {host} port {port}: {error.strerror}."
            " Stop what listens there, or choose another port with --port or LOOM_PORT."
        ) from error
    return listening


class Server(uvicorn.Server):
    """uvicorn's server, which goes on listening for a while once it is told to stop."""

    def __init__(self, config: uvicorn.Config, settings: Settings, stopping: Callable[[], None]) -> None:
        """`stopping` is called, in the signal's handler, when the first one comes."""
        super().__init__(config)
        self._settings = settings
        self._stopping = stopping
        self._signalled: tuple[int, float] | None = None
        self._hurried = self._told = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop, or at a second signal give up what still runs."""
        if self.should_exit:
            self._hurried = True
            return
        self._signalled = sig, monotonic()
        self._stopping()
        super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Whether to close the listeners now; asked ten times a second."""
        return await super().on_tick(counter) and self._drained()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more calls, and give up those that do not end in time."""
        self._tell()
        await super().shutdown(sockets)

    def _drained(self) -> bool:
        if self._signalled is None:
            return True
        self._tell()
        sig, since = self._signalled
        gone = monotonic() - since
        grace = self._settings.drain_grace_seconds if sig == signal.SIGTERM else 0.0
        left = 0.0 if self._hurried else max(0.0, self._settings.drain_seconds - gone)
        self.config.timeout_graceful_shutdown = math.ceil(left)
        return self._hurried or (gone >= grace and (not left or not self.server_state.tasks))

    def _tell(self) -> None:
        if not self._told:
            logs.lifecycle("draining", at_most_s=self._settings.drain_seconds, running=len(self.server_state.tasks))
        self._told = True


def serve(
    settings: Settings,
    build: Callable[[], Opened],
    listening: socket.socket | None = None,
    metrics: Metrics | None = None,
    stages: Stages | None = None,
) -> None:
    """Serve until a signal says stop, then drain and close. Raises what stopped the services from starting.

    `stages` is told by `build` which stage of the start runs.
    """
    listening = listening or listen(settings.host, settings.port, settings.trusted_network)

    def stop() -> None:
        server.should_exit = True

    startup = Startup(build, stop, stages)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        startup.begin()
        yield
        # In a thread, so that calls that were given up are still answered while the store closes.
        await to_thread.run_sync(startup.end)

    app = create_app(startup.current, settings, lifespan, metrics, startup.progress)
    server = Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_graceful_shutdown=math.ceil(settings.drain_seconds),
        ),
        settings,
        startup.stop,
    )
    with listening:
        host, port = listening.getsockname()[:2]
        logs.lifecycle("listening", host=host, port=port)
        try:
            server.run([listening])
        finally:
            # The signal that ended it is raised again here.
            logs.lifecycle("stopped")
    if startup.error is not None:
        raise startup.error
