"""What a caller is told when the address in the lock does not answer as a service does; the rest is in `tests/cli`."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from loom_client import wire
from loom_server.cli.remote import RemoteServices
from loom_server.errors import LoomError, NotSupported, StoreUnavailable

HEALTH = wire.OpsHealthRequest()


@contextmanager
def answering(status: str, body: str) -> Iterator[str]:
    """A listener that gives one fixed answer; its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
                connection.sendall((head + body).encode())

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


def test_an_address_where_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(StoreUnavailable, match=f"127.0.0.1:{port} owns the store and does not answer"):
        RemoteServices(f"http://127.0.0.1:{port}").call("ops.health", HEALTH)


@pytest.mark.parametrize("address", ["http://[127.0.0.1", "nowhere", "", "http://127.0.0.1:port", "file:///"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(StoreUnavailable, match="owns the store and does not answer"):
        RemoteServices(address).call("ops.health", HEALTH)


def test_an_error_comes_back_as_what_it_was() -> None:
    body = (
        '{"detail": {"code": "not_supported", "message": "hyde is not built yet.", "category": "request",'
        ' "retryable": false, "errors": [{"path": "hyde", "message": "is not built yet"}]}}'
    )
    with answering("400 Bad Request", body) as address, pytest.raises(NotSupported) as caught:
        RemoteServices(address).call("ops.health", HEALTH)
    assert caught.value.message == "hyde is not built yet."
    assert [error.path for error in caught.value.errors] == ["hyde"]


def test_a_code_that_is_not_known_is_an_error_all_the_same() -> None:
    body = '{"detail": {"code": "from_the_future", "message": "Later.", "category": "x", "retryable": false}}'
    with answering("418 Teapot", body) as address, pytest.raises(LoomError, match="Later"):
        RemoteServices(address).call("ops.health", HEALTH)


@pytest.mark.parametrize(("status", "body"), [("200 OK", "<html>"), ("502 Bad Gateway", "<html>")])
def test_an_answer_of_somebody_else(status: str, body: str) -> None:
    with answering(status, body) as address, pytest.raises(StoreUnavailable, match=address):
        RemoteServices(address).call("ops.health", HEALTH)
