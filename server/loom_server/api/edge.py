"""The edge of the process: request ids, the Host check, and the last resort for errors.

`X-Request-ID` is taken where it is 1 to 64 letters, digits, dots, underscores and hyphens, else
made, and is on every answer. A Host header that names neither loopback nor the configured host
nor one of LOOM_ALLOWED_HOSTS is refused: otherwise any site could reach the service through a name that it points here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from ipaddress import ip_address
from secrets import token_hex
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from loom_server.api.failures import internal_error, log_failure
from loom_server.api.problems import problem_response
from loom_server.api.tally import Tally, place_of
from loom_server.errors import Forbidden, LoomError

REQUEST_ID = "X-Request-ID"
_TAKEN = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Edge:
    """The outermost layer around the doors."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str], tally: Tally | None = None) -> None:
        self._app = app
        self._hosts = hosts
        self._tally = tally or Tally()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = choose_id(headers.get(REQUEST_ID))
        state = scope.setdefault("state", {})
        state["request_id"], state["code"] = request_id, ""
        place = place_of(scope["path"])
        started = False

        async def send_with_id(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                self._answered(place, message["status"], state)
                MutableHeaders(scope=message)[REQUEST_ID] = request_id
            await send(message)

        if not self.admits(headers.get("host", "")):
            refused = Forbidden(
                "The Host header names another service; use 127.0.0.1 or localhost, or name it in LOOM_ALLOWED_HOSTS."
            )
            state["code"] = refused.code
            await problem_response(refused, request_id)(scope, receive, send_with_id)
            return
        try:
            await self._app(scope, receive, send_with_id)
        except Exception as error:
            log_failure(error, request_id, " ".join(place))
            if started:
                raise
            state["code"] = LoomError.code
            await problem_response(internal_error(), request_id)(scope, receive, send_with_id)

    def _answered(self, place: tuple[str, str], status: int, state: Mapping[str, Any]) -> None:
        # Whether a call succeeded that came by JSON-RPC is not told by the status of the answer that carries it.
        if place[0] != "rpc" or status not in (HTTPStatus.OK, HTTPStatus.NO_CONTENT):
            self._tally.answered(place, status, state["code"], state["request_id"])

    def admits(self, host: str) -> bool:
        """Whether the Host header names this service."""
        name = host_name(host)
        return is_loopback(name) or name in self._hosts


def choose_id(given: str | None) -> str:
    """The caller's request id where it has the right form, else a new one."""
    return given if given is not None and _TAKEN.fullmatch(given) else token_hex(8)


def host_name(host: str) -> str:
    """The name in a Host header, without port and brackets."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def host_names(host: str, allowed: str) -> frozenset[str]:
    """The names that the service goes by; an address that stands for all of them (0.0.0.0) is no name."""
    names = {name.strip().lower() for name in (host, *allowed.split(","))}
    return frozenset(name for name in names if name and not is_unspecified(name))


def is_unspecified(name: str) -> bool:
    """Whether an address stands for every address of this machine."""
    try:
        return ip_address(name).is_unspecified
    except ValueError:
        return False


def is_loopback(name: str) -> bool:
    """Whether a name or an address is this machine's own."""
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name.rstrip(".").lower() == "localhost"
