"""Listening: on loopback alone, since no key can be configured yet."""

from __future__ import annotations

from loom_server.api.edge import is_loopback
from loom_server.errors import ConfigError


def check_bind(host: str) -> None:
    """Refuse an address that others could reach. Raises `ConfigError`."""
    if not is_loopback(host):
        raise ConfigError(
            f"LOOM_HOST is '{host}', which other machines can reach, and callers cannot be told apart:"
            " keys are not built yet. Use 127.0.0.1, ::1 or localhost."
        )
