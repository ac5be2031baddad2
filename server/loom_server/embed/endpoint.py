"""What a remote embedder needs of the settings, and the sentences that say what is missing."""

from __future__ import annotations

from urllib.parse import urlsplit

from loom_server.errors import ConfigError
from loom_server.settings import Settings


def not_installed(embedder: str, package: str) -> ConfigError:
    """The extra of an embedder is called like the embedder."""
    return ConfigError(
        f"LOOM_EMBEDDER={embedder} needs the package {package}, which is not installed: "
        f'pip install "loom-recall[{embedder}]".'
    )


def key_of(settings: Settings) -> str:
    """The key. Raises `ConfigError` where there is none."""
    key = settings.embedder_api_key.get_secret_value().strip()
    if not key:
        raise ConfigError(f"LOOM_EMBEDDER={settings.embedder} needs a key: set LOOM_EMBEDDER_API_KEY.")
    if not key.isascii() or not key.isprintable():
        raise ConfigError("LOOM_EMBEDDER_API_KEY holds a character that no header may hold; set it anew.")
    return key


def address_of(settings: Settings) -> str | None:
    """The base address, without a slash at its end; None where the provider's own is meant.

    Raises `ConfigError` where it is no http address, or holds a password, which logs would show.
    """
    given = settings.embedder_base_url.strip()
    if not given:
        return None
    try:
        parts = urlsplit(given)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable, parts = False, urlsplit("")
    if not usable or parts.query or parts.fragment:
        raise ConfigError("LOOM_EMBEDDER_BASE_URL must be an address such as https://embeddings.example/v1.")
    if parts.username is not None or parts.password is not None:
        raise ConfigError("LOOM_EMBEDDER_BASE_URL must hold no user or password; set LOOM_EMBEDDER_API_KEY.")
    return given.rstrip("/")
