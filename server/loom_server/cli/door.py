"""How a command reaches the service: in this process, or over HTTP where a server owns the store.

The embedded store has one owner. While `loom serve` runs, the lock of its directory names its
address, and commands ask there; else a command opens the store itself and closes it at its end.
Both ways take the wire's requests and give its answers, with the same bounds.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from typing import Protocol, TypeVar, cast

import orjson
from pydantic import ValidationError

from loom_client import wire
from loom_server.api.limits import check_size
from loom_server.api.operations import OPERATIONS
from loom_server.api.refusal import refusal
from loom_server.cli.remote import RemoteServices
from loom_server.errors import StoreLocked
from loom_server.model.deadline import Deadline
from loom_server.model.strict_json import check_nesting
from loom_server.service.open import open_services
from loom_server.service.services import Services
from loom_server.settings import Settings
from loom_server.store.lock import owner_of

A = TypeVar("A", bound=wire.Answer)


class Caller(Protocol):
    """Runs one operation of the wire. Raises a `LoomError`."""

    def call(self, name: str, request: wire.Request) -> wire.Answer: ...


class LocalServices:
    """The operations of services in this process."""

    def __init__(self, services: Services, settings: Settings) -> None:
        self._services = services
        self._settings = settings

    def call(self, name: str, request: wire.Request) -> wire.Answer:
        """The answer of one operation, within its time. Raises `TooLarge` where the server would."""
        body = request.model_dump_json(exclude_unset=True).encode()
        check_size(len(body), self._settings.max_body_bytes)
        check_nesting(orjson.loads(body), self._settings.max_nesting)
        operation = OPERATIONS[name]
        deadline = Deadline(operation.seconds(request, self._settings))
        return operation.handler(self._services)(request, deadline)


class Door:
    """The operations that commands use, typed."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def search(self, request: wire.MemorySearchRequest) -> wire.MemorySearchResponse:
        return self._ask("memory.search", request, wire.MemorySearchResponse)

    def set(self, request: wire.MemorySetRequest) -> wire.MemorySetResponse:
        return self._ask("memory.set", request, wire.MemorySetResponse)

    def set_many(self, request: wire.MemorySetManyRequest) -> wire.MemorySetManyResponse:
        return self._ask("memory.set_many", request, wire.MemorySetManyResponse)

    def get(self, request: wire.MemoryGetRequest) -> wire.MemoryGetResponse:
        return self._ask("memory.get", request, wire.MemoryGetResponse)

    def list(self, request: wire.MemoryListRequest) -> wire.MemoryListResponse:
        return self._ask("memory.list", request, wire.MemoryListResponse)

    def delete(self, request: wire.MemoryDeleteRequest) -> wire.MemoryDeleteResponse:
        return self._ask("memory.delete", request, wire.MemoryDeleteResponse)

    def history(self, request: wire.MemoryHistoryRequest) -> wire.MemoryHistoryResponse:
        return self._ask("memory.history", request, wire.MemoryHistoryResponse)

    def health(self, request: wire.OpsHealthRequest) -> wire.OpsHealthResponse:
        return self._ask("ops.health", request, wire.OpsHealthResponse)

    def reembed(self, request: wire.OpsReembedRequest) -> wire.OpsReembedResponse:
        return self._ask("ops.reembed", request, wire.OpsReembedResponse)

    def _ask(self, name: str, request: wire.Request, kind: type[A]) -> A:
        return cast("A", self._caller.call(name, request))


@contextmanager
def open_door(settings: Settings) -> Generator[Door]:
    """The way to the store of `settings.data_dir`, open while the block runs."""
    try:
        services = open_services(settings)
    except StoreLocked:
        owner = owner_of(settings.data_dir)
        if owner is None or not owner.address:
            raise
        with closing(RemoteServices(owner.address)) as remote:
            yield Door(remote)
        return
    try:
        yield Door(LocalServices(services, settings))
    finally:
        services.close()


def request_of(name: str, fields: Mapping[str, object]) -> wire.Request:
    """The request of an operation from plain fields. Raises an `InvalidInput` that names each wrong one."""
    contract = wire.CONTRACTS[name]
    try:
        return contract.request.model_validate(dict(fields))
    except ValidationError as error:
        raise refusal(contract, error) from None
