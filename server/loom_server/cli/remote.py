"""A running service over HTTP: `POST /v1/{operation}` at the address that its lock file tells.

No proxy is asked, since the address is this machine's own. An error of the service comes back as
the error of the tree that it was there.
"""

from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

from pydantic import ValidationError

from loom_client import wire
from loom_server.errors import FieldError, LoomError, StoreUnavailable

TIMEOUT_S = 630.0
"""Longer than the longest deadline that a request may have."""


def body_of(request: wire.Request) -> bytes:
    """The request as it goes over the wire."""
    return request.model_dump_json(exclude_unset=True).encode()


class RemoteServices:
    """The operations of the service at `address`."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._opener = build_opener(ProxyHandler({}))

    def call(self, name: str, request: wire.Request) -> wire.Answer:
        """The answer of one operation. Raises the service's error, or `StoreUnavailable`."""
        body = body_of(request)
        headers = {"Content-Type": "application/json"}
        try:
            posted = Request(f"{self.address}/v1/{name}", body, headers, method="POST")  # noqa: S310
            with self._opener.open(posted, timeout=TIMEOUT_S) as answer:
                data = answer.read()
            return wire.CONTRACTS[name].response.model_validate_json(data)
        except HTTPError as error:
            raise _told(error, self.address) from None
        except (OSError, HTTPException, ValueError) as error:
            raise StoreUnavailable(
                f"The service at {self.address} owns the store and does not answer as it should "
                f"({_reason(error)}); see its log, or stop it and try again."
            ) from None


def _told(error: HTTPError, address: str) -> LoomError:
    """The service's own error."""
    try:
        problem = wire.ProblemBody.model_validate_json(error.read()).detail
    except ValidationError:
        return StoreUnavailable(f"The service at {address} answered with status {error.code}; see its log.")
    kind = _KINDS.get(problem.code, LoomError)
    fields = tuple(FieldError(one.path, one.message) for one in problem.errors)
    return kind(problem.message, errors=fields, retry_after_s=problem.retry_after_s)


def _reason(error: Exception) -> str:
    return str(error.reason) if isinstance(error, URLError) else str(error).split("\n", maxsplit=1)[0]


def _family(kind: type[LoomError]) -> Iterator[type[LoomError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _family(child)


_KINDS = {kind.code: kind for kind in _family(LoomError) if "code" in vars(kind)}
