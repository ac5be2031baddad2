"""Where the service listens, and what ends it before it began."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from loom_server.api.serve import check_bind, listen, serve
from loom_server.errors import ConfigError, StoreLocked
from loom_server.settings import Settings


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_loopback_may_be_listened_on(host: str) -> None:
    check_bind(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_any_other_address_is_refused(host: str) -> None:
    with pytest.raises(ConfigError, match="keys are not built yet"):
        check_bind(host)


def test_a_trusted_network_is_listened_on_where_it_is_said_on_purpose() -> None:
    check_bind("0.0.0.0", trusted_network=True)
    with listen("0.0.0.0", 0, trusted_network=True) as listening:
        assert listening.getsockname()[0] == "0.0.0.0"
    with pytest.raises(ConfigError, match="LOOM_TRUSTED_NETWORK=true"):
        listen("0.0.0.0", 0)
    with pytest.raises(ConfigError):
        check_bind("", trusted_network=True)


def test_a_socket_says_that_it_is_tcp() -> None:
    with listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
        socket.create_connection(listening.getsockname()[:2], timeout=5).close()


def test_a_taken_port_is_named() -> None:
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port}: .*choose another port with --port or LOOM_PORT"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize("error", [StoreLocked("Process 12 owns the directory."), RuntimeError("broken")])
def test_a_start_that_fails_ends_the_serving_with_its_error(error: Exception) -> None:
    def build() -> Any:
        raise error

    with pytest.raises(type(error)) as raised:
        serve(Settings(), build, listen("127.0.0.1", 0))
    assert raised.value is error
