"""Hosts and request ids."""

from __future__ import annotations

import pytest

from loom_server.api.edge import Edge, choose_id, host_name, host_names, is_loopback


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("localhost:7777", "localhost"),
        ("LocalHost", "localhost"),
        ("127.0.0.1:80", "127.0.0.1"),
        ("[::1]:7777", "::1"),
        ("[::1]", "::1"),
        (" a.example ", "a.example"),
        ("", ""),
        (":80", ""),
    ],
)
def test_a_host_header_holds_a_name(header: str, name: str) -> None:
    assert host_name(header) == name


@pytest.mark.parametrize("name", ["127.0.0.1", "127.255.0.9", "::1", "localhost", "LOCALHOST."])
def test_loopback(name: str) -> None:
    assert is_loopback(name)


@pytest.mark.parametrize("name", ["0.0.0.0", "::", "10.1.2.3", "::ffff:10.0.0.1", "example.org", "", "localhost.org"])
def test_not_loopback(name: str) -> None:
    assert not is_loopback(name)


@pytest.mark.parametrize("given", ["a", "A-b_c.9", "x" * 64])
def test_an_id_of_the_right_form_is_kept(given: str) -> None:
    assert choose_id(given) == given


@pytest.mark.parametrize("given", [None, "", "x" * 65, "a b", "a\n", "ä"])
def test_any_other_id_is_made_anew(given: str | None) -> None:
    first, second = choose_id(given), choose_id(given)
    assert first != second
    assert choose_id(first) == first


@pytest.mark.parametrize(
    ("host", "allowed", "names"),
    [("127.0.0.1", "", {"127.0.0.1"}), ("0.0.0.0", "", set()), ("::", "", set()), ("", " , ", set()),
     ("0.0.0.0", "Loom, memory.example", {"loom", "memory.example"})],
)  # fmt: skip
def test_the_names_of_a_service(host: str, allowed: str, names: set[str]) -> None:
    assert host_names(host, allowed) == names


@pytest.mark.parametrize(
    ("header", "admitted"),
    [("loom:7777", True), ("LOOM", True), ("127.0.0.1:7777", True), ("0.0.0.0:7777", False), ("loom.evil", False),
     ("", False), ("other", False)],
)  # fmt: skip
def test_a_host_header_must_name_the_service(header: str, admitted: bool) -> None:
    async def app(scope: object, receive: object, send: object) -> None: ...

    assert Edge(app, host_names("0.0.0.0", "loom")).admits(header) is admitted
