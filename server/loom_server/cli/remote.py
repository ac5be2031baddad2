"""A running service over HTTP, at the address that its lock file tells: `loom_client` with the errors of the tree.

No proxy is asked, since the address is this machine's own, and nothing is tried twice: who types a command sees what
came of it. An error of the service comes back as the error of the tree that it was there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loom_client import wire
from loom_client.errors import ApiError, InvalidCall, LoomClientError, TransportError, UnexpectedAnswer
from loom_server.errors import FieldError, LoomError, StoreUnavailable

if TYPE_CHECKING:
    from loom_client.client import Client

TIMEOUT_S = 630.0
"""Longer than the longest deadline that a request may have."""


class RemoteServices:
    """The operations of the service at `address`."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._client: Client | None = None

    def call(self, name: str, request: wire.Request) -> wire.Answer:
        """The answer of one operation. Raises the service's error, or `StoreUnavailable`."""
        try:
            self._client = self._client or _connect(self.address)
            return self._client.send(request)
        except LoomClientError as error:
            raise _told(error, self.address) from None

    def close(self) -> None:
        """Let the connection go."""
        if self._client is not None:
            self._client.close()


def _connect(address: str) -> Client:
    # The HTTP library takes a third of a second to import, and most commands need none.
    from loom_client.client import Client  # noqa: PLC0415
    from loom_client.retry import RetryPolicy  # noqa: PLC0415

    if not address:
        raise InvalidCall("the lock file tells no address.")
    once = RetryPolicy(attempts=1, total_s=TIMEOUT_S)
    return Client(address, api_key="", timeout_s=TIMEOUT_S, retries=once, idempotency_keys=False)


def _told(error: LoomClientError, address: str) -> LoomError:
    """The service's own error, or that it does not answer as it should."""
    if isinstance(error, ApiError):
        kind = _KINDS.get(error.code, LoomError)
        fields = tuple(FieldError(one.path, one.message) for one in error.errors)
        return kind(error.message, errors=fields, retry_after_s=error.retry_after_s)
    if isinstance(error, UnexpectedAnswer) and error.status != 200:
        return StoreUnavailable(f"The service at {address} answered with status {error.status}; see its log.")
    reason = error.reason if isinstance(error, TransportError) else error.message
    return StoreUnavailable(
        f"The service at {address} owns the store and does not answer as it should ({reason.rstrip('.')});"
        " see its log, or stop it and try again."
    )


def _family(kind: type[LoomError]) -> Iterator[type[LoomError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _family(child)


_KINDS = {kind.code: kind for kind in _family(LoomError) if "code" in vars(kind)}
