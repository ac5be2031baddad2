"""`loom serve`: the HTTP service in the foreground, until Ctrl-C or SIGTERM.

    listen -> open the store in a thread -> tell the lock file the address -> say where

While it runs, the other commands on its directory ask it instead of opening the store.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

import typer

from loom_server.cli.command import DONE, Shell, settings_of
from loom_server.observe import logs
from loom_server.observe.metrics import Metrics
from loom_server.observe.stages import Stages
from loom_server.service.open import open_services
from loom_server.service.services import Services
from loom_server.settings import Settings
from loom_server.store.choose import AnyStore, place_of

Host = Annotated[str | None, typer.Option("--host", help="Address to listen on; else LOOM_HOST, else 127.0.0.1.")]
Port = Annotated[int | None, typer.Option("--port", "-p", help="Port to listen on; else LOOM_PORT, else 7777.")]

OPEN = (
    "LOOM_TRUSTED_NETWORK is on and no key is asked for: whoever reaches {host} port {port}"
    " reads, writes and deletes every memory of every org."
)

Told = Callable[[str], None]
"""Told the address once the service can be used."""


def serve(shell: Shell, host: Host = None, port: Port = None) -> int:
    """Serve the store over HTTP; other commands on its directory then ask this server."""
    settings = settings_of(shell.settings.data_dir, host=host, port=port)

    def told(address: str) -> None:
        if shell.screen.as_json:
            shell.screen.data({"address": address, "store": place_of(settings)})
        shell.screen.say(f"Serving {place_of(settings)} at {address} (health: {address}/v1/health). Ctrl-C stops it.")

    if settings.trusted_network:
        shell.screen.say(OPEN.format(host=settings.host, port=settings.port), "yellow")
    start = Start.of(settings)
    serve_until_stopped(settings, lambda: start.open(settings), told, start)
    shell.screen.say("Stopped.")
    return DONE


def _address(host: str, port: int) -> str:
    """The address at which this machine's own commands reach the server."""
    near = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{near}]:{port}" if ":" in near else f"http://{near}:{port}"


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the services: the metrics that they share with the doors, and its stages."""

    metrics: Metrics | None
    stages: Stages = field(default_factory=Stages)

    @classmethod
    def of(cls, settings: Settings) -> Start:
        """A start with metrics, unless they are off."""
        return cls(Metrics() if settings.metrics else None)

    def open(self, settings: Settings) -> Services:
        """Open the services on the directory of the settings."""
        services = open_services(settings, self.metrics, self.stages)
        if self.metrics is not None:
            for stage, took in self.stages.done.items():
                self.metrics.stage(stage, took)
        return services


def serve_until_stopped(settings: Settings, build: Callable[[], Services], told: Told, start: Start) -> None:
    """Serve what `build` opens, and close it. Raises what stopped the start; an interrupt is its end."""
    # The doors take a third of a second to import, and no other command needs them.
    from loom_server.api import serve as doors  # noqa: PLC0415

    listener = doors.listen(settings.host, settings.port, settings.trusted_network)
    address = _address(*listener.getsockname()[:2])

    def opened() -> Services:
        services = build()
        store = services.searcher.store
        if isinstance(store, AnyStore):
            store.publish_address(address)
        stages = {stage: round(took, 1) for stage, took in start.stages.done.items()}
        logs.lifecycle("ready", address=address, ms=stages)
        told(address)
        return services

    # Without this the system's own end would follow the server's, with its exit code and no word.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        doors.serve(settings, opened, listener, start.metrics, start.stages)
    except KeyboardInterrupt:
        # The server has drained and closed by then; it hands the signal on to whoever started it.
        return
