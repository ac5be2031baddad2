"""Listening: first the port, then the services, on loopback alone.

No key can be configured yet, so an address that other machines reach is refused, unless LOOM_TRUSTED_NETWORK says
that whoever reaches it may read and write everything.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI

from loom_server.api.app import create_app
from loom_server.api.edge import is_loopback
from loom_server.api.startup import Opened, Startup
from loom_server.errors import ConfigError
from loom_server.observe import logs
from loom_server.observe.metrics import Metrics
from loom_server.settings import Settings

DRAIN_SECONDS = 10
"""How long running calls may take to end once the service is told to stop."""

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
    """uvicorn's server, which says when it begins to drain."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more calls, and let those that run end."""
        logs.lifecycle("draining", at_most_s=self.config.timeout_graceful_shutdown)
        await super().shutdown(sockets)


def serve(
    settings: Settings,
    build: Callable[[], Opened],
    listening: socket.socket | None = None,
    metrics: Metrics | None = None,
) -> None:
    """Serve until a signal says stop, then drain and close. Raises what stopped the services from starting."""
    listening = listening or listen(settings.host, settings.port, settings.trusted_network)

    def stop() -> None:
        server.should_exit = True

    startup = Startup(build, stop)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        startup.begin()
        yield
        startup.end()

    app = create_app(startup.current, settings, lifespan, metrics)
    server = Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_graceful_shutdown=DRAIN_SECONDS,
        )
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
