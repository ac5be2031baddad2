"""Which store serves: a ClickHouse server where LOOM_CLICKHOUSE_URL names one, else the engine in this process."""

from __future__ import annotations

from urllib.parse import urlsplit

from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.server import ServerStore

AnyStore = EmbeddedStore | ServerStore


def open_store(settings: Settings) -> AnyStore:
    """The store that the settings describe. Raises what the two raise."""
    return ServerStore.open(settings) if settings.clickhouse_url.get_secret_value() else EmbeddedStore.open(settings)


def place_of(settings: Settings) -> str:
    """Where the store is, for people: the directory, or the server without its user and password."""
    if not (url := settings.clickhouse_url.get_secret_value()):
        return str(settings.data_dir)
    return f"ClickHouse at {urlsplit(url).netloc.rpartition('@')[2]}"
