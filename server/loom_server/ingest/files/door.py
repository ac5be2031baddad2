"""What loading needs of a service: three operations by their wire models.

The services of this process and a client of another one both satisfy it.
"""

from __future__ import annotations

from typing import Protocol

from loom_client.wire import (
    MemoryDeleteRequest,
    MemoryDeleteResponse,
    MemoryListRequest,
    MemoryListResponse,
    MemorySetManyRequest,
    MemorySetManyResponse,
)


class MemoryDoor(Protocol):
    """Each call raises a `LoomError` when it fails as a whole."""

    def set_many(self, request: MemorySetManyRequest) -> MemorySetManyResponse: ...

    def list(self, request: MemoryListRequest) -> MemoryListResponse: ...

    def delete(self, request: MemoryDeleteRequest) -> MemoryDeleteResponse: ...
