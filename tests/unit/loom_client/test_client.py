"""Both clients against a real service, and against a server that goes wrong to order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import anyio
import httpx
import pytest

from faults import HANG, RESET, Faulty, faulty, http
from loom_client import (
    AsyncClient,
    Client,
    Conflict,
    InvalidCall,
    LoomClientError,
    RateLimited,
    RequestRefused,
    RetryPolicy,
    TransportError,
    UnexpectedAnswer,
    wire,
)
from loom_server.api.app import create_app
from loom_server.service.services import Services
from loom_server.settings import Settings
from served import serving

FOUND = http(200, {"found": False})
STORED = http(
    200,
    {"memory_key": "k", "version": 1, "memory_id": "m", "content_sha256": "s", "status": "live", "noop": False,
     "dry_run": False, "degraded": []},
)  # fmt: skip
QUICK = RetryPolicy(attempts=3, total_s=20.0, first_s=0.01)


def problem(status: int, code: str, **headers: str) -> bytes:
    detail = {"code": code, "message": "Told.", "category": "availability", "retryable": True}
    return http(status, {"detail": detail}, **headers)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A served process with limits that a few items pass."""
    with serving(tmp_path_factory.mktemp("client") / "data", embedder="hash", max_items="3") as told:
        yield told


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    with Client(address) as opened:
        yield opened


def test_a_memory_is_written_found_changed_and_deleted(client: Client, org: str) -> None:
    first = client.memory.set("deploy/window", {"day": "Tuesday"}, org=org, tags=["ops"], valid_at="2026-05-01")
    assert (first.version, first.noop) == (1, False)
    assert client.memory.set("deploy/window", {"day": "Tuesday"}, org=org, tags=["ops"], valid_at="2026-05-01").noop
    assert client.memory.update("deploy/window", org=org, tags=["late"]).version == 2
    found = client.memory.get("deploy/window", org=org)
    assert (found.value, found.tags) == ({"day": "Tuesday"}, ("late",))
    hits = client.memory.search("deploy window Tuesday", org=org, search_mode="lexical", top_k=1).results
    assert [hit.memory_key for hit in hits] == ["deploy/window"]
    assert client.namespace.set(org=org, retrieval_defaults={"top_k": 7}).retrieval_defaults.top_k == 7
    assert client.namespace.get(org=org).retrieval_defaults.top_k == 7
    assert client.memory.delete("deploy/window", org=org).tombstoned
    assert [one.version for one in client.memory.history("deploy/window", org=org).versions] == [3, 2, 1]
    assert client.ops.health().status == "ok"


def test_a_request_model_is_sent_as_it_is(client: Client, org: str) -> None:
    answer = client.call(wire.MemorySetRequest(org=org, memory_key="k", value=None))
    assert answer.version == 1
    assert client.call(wire.MemoryGetRequest(org=org, memory_key="k")).found
    assert client.send(wire.MemoryListRequest(org=org, count_only=True)) == wire.MemoryListResponse(count=1)


def test_more_items_than_one_call_takes_and_more_memories_than_one_page_holds(client: Client, org: str) -> None:
    items = [{"memory_key": f"k{number:02}", "value": number} for number in range(8)]
    items[5]["if_match_sha256"] = "0" * 64
    answer = client.memory.set_all(items, org=org)  # pyright: ignore[reportArgumentType]
    assert (answer.written, answer.refused) == (7, 1)
    assert [one.memory_key for one in answer.results] == [f"k{number:02}" for number in range(8)]
    assert isinstance(answer.results[5], wire.MemoryRefused)
    keys = [one.memory_key for one in client.memory.list_all(org=org, limit=2)]
    assert keys == [f"k{number:02}" for number in range(8) if number != 5]


def test_a_search_is_read_page_by_page(client: Client, org: str) -> None:
    client.memory.set_all([{"memory_key": f"tea/{number}", "value": f"tea {number}"} for number in range(5)], org=org)
    whole = client.memory.search("tea", org=org)
    pages = list(client.memory.search_pages("tea", org=org, top_k=2))
    assert [(page.page_offset, len(page.results)) for page in pages] == [(0, 2), (2, 2), (4, 1)]
    assert [hit for page in pages for hit in page.results] == list(whole.results)
    with pytest.raises(RequestRefused, match="page") as refused:
        client.memory.search("coffee", org=org, page=pages[0].next_page)
    assert [one.path for one in refused.value.errors] == ["page"]


def test_pages_end_where_what_was_served_is_gone(client: Client, org: str) -> None:
    client.memory.set_all([{"memory_key": f"tea/{number}", "value": f"tea {number}"} for number in range(5)], org=org)
    codes: list[str | None] = []
    for page in client.memory.search_pages("tea", org=org, top_k=2, search_mode="lexical"):
        codes.append(page.abstain_code)
        for hit in page.results:
            client.memory.delete(hit.memory_key, org=org)
    assert codes == [None, "page_expired"]


def test_an_error_of_the_service_is_told_with_its_members(client: Client, org: str) -> None:
    client.memory.set("k", 1, org=org)
    with pytest.raises(Conflict) as caught:
        client.memory.set("k", 2, org=org, if_match_sha256="0" * 64)
    assert (caught.value.code, caught.value.status, caught.value.retryable) == ("conflict", 409, False)
    assert len(caught.value.request_id) == 16
    with pytest.raises(RequestRefused, match="top_k") as refused:
        client.memory.search("q", org=org, top_k=500)
    assert [one.path for one in refused.value.errors] == ["top_k"]
    with pytest.raises(InvalidCall, match=r"memory\.get: memory_key"):
        client.memory.get("", org=org)


def test_one_client_serves_many_threads(client: Client, org: str) -> None:
    threads = [
        threading.Thread(target=client.memory.set, args=(f"k{number}", number), kwargs={"org": org})
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.memory.list(org=org, count_only=True).count == 8


def test_the_async_client_against_the_app_in_this_process(services: Services, org: str) -> None:
    async def talk() -> None:
        app = create_app(lambda: services, Settings(max_items=3))
        async with AsyncClient(transport=httpx.ASGITransport(app)) as loom:
            answer = await loom.memory.set_all(
                [{"memory_key": f"k{number}", "value": f"tea {number}"} for number in range(7)], org=org
            )
            assert (len(answer.results), answer.refused) == (7, 0)
            assert [one.memory_key async for one in loom.memory.list_all(org=org, limit=3)] == [
                f"k{number}" for number in range(7)
            ]
            pages = [page async for page in loom.memory.search_pages("tea", org=org, top_k=3)]
            assert [len(page.results) for page in pages] == [3, 3, 1]
            assert (await loom.memory.get("k3", org=org)).value == "tea 3"
            assert (await loom.call(wire.MemoryGetRequest(org=org, memory_key="none"))).found is False
            assert await loom.send(wire.MemoryListRequest(org=org, count_only=True)) == wire.MemoryListResponse(count=7)
            assert (await loom.namespace.get(org=org)).org == org
            assert (await loom.ops.health()).status == "ok"
            with pytest.raises(Conflict):
                await loom.memory.set("k3", 2, org=org, if_match_sha256="0" * 64)

    anyio.run(talk)


def asked_twice(server: Faulty) -> None:
    """Two requests came, under one id."""
    assert len(server.asked) == 2
    assert len(set(server.header("x-request-id"))) == 1


@pytest.mark.parametrize(
    "fault", [problem(503, "store_unavailable"), problem(429, "rate_limited", retry_after="0"), RESET]
)
def test_a_fault_that_passes_is_not_seen(fault: bytes) -> None:
    with faulty(fault, FOUND) as server, Client(server.address, retries=QUICK) as loom:
        assert loom.memory.get("k").found is False
        asked_twice(server)


@pytest.mark.parametrize("fault", [problem(503, "store_unavailable"), RESET])
def test_the_async_client_does_the_same(fault: bytes) -> None:
    async def talk(address: str) -> None:
        async with AsyncClient(address, retries=QUICK) as loom:
            assert (await loom.memory.set("k", 1)).version == 1

    with faulty(fault, STORED) as server:
        anyio.run(talk, server.address)
        asked_twice(server)
        assert len(set(server.header("idempotency-key"))) == 1
        assert server.header("idempotency-key")[0]


def test_a_write_without_keys_is_sent_once() -> None:
    with faulty(RESET, STORED) as server, Client(server.address, retries=QUICK, idempotency_keys=False) as loom:
        with pytest.raises(TransportError, match="broke off") as caught:
            loom.memory.set("k", 1)
        assert (caught.value.sent, len(server.asked), server.header("idempotency-key")) == (True, 1, [""])


def test_a_silent_service_is_a_time_out() -> None:
    with faulty(HANG) as server, Client(server.address, timeout_s=0.2, retries=RetryPolicy(attempts=2)) as loom:
        with pytest.raises(TransportError, match="did not answer in time") as caught:
            loom.memory.get("k")
        assert caught.value.timed_out
        assert caught.value.request_id in str(caught.value)
        asked_twice(server)


def test_an_address_where_nobody_listens() -> None:
    with faulty(FOUND) as server:
        pass
    with (
        Client(server.address, retries=QUICK) as loom,
        pytest.raises(TransportError, match="cannot be reached") as caught,
    ):
        loom.memory.set("k", 1)
    assert not caught.value.sent


@pytest.mark.parametrize("garbage", [http(200, b"<html>", content_type="text/html"), http(301, b"", location="/x")])
def test_a_page_of_a_proxy_is_named(garbage: bytes) -> None:
    with faulty(garbage) as server, Client(server.address) as loom, pytest.raises(UnexpectedAnswer, match="not Loom's"):
        loom.memory.get("k")


def test_bytes_that_are_not_http_are_a_broken_connection() -> None:
    once = RetryPolicy(attempts=1)
    with faulty(b"\x00\x01\x02") as server, Client(server.address, retries=once) as loom:
        refused = pytest.raises(TransportError, match="broke off")
        with refused:
            loom.memory.get("k")


def test_after_a_429_no_thread_sends_before_its_moment() -> None:
    with faulty(problem(429, "rate_limited", retry_after="1"), FOUND) as server:
        with Client(server.address, retries=RetryPolicy(attempts=1)) as loom:
            with pytest.raises(RateLimited):
                loom.memory.get("k")
            threads = [threading.Thread(target=loom.memory.get, args=("k",)) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        first, *others = [moment for moment, _ in server.asked]
        assert len(others) == 3
        assert min(others) - first >= 0.95


def test_the_address_and_the_key_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with faulty(FOUND) as server:
        monkeypatch.setenv("LOOM_URL", server.address)
        monkeypatch.setenv("LOOM_API_KEY", "Secret-1")
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        for key in (None, "other", ""):
            with Client(api_key=key) as loom:
                loom.memory.get("k")
        assert server.header("authorization") == ["bearer secret-1", "bearer other", ""]
        assert all(agent.startswith("loom-client/") for agent in server.header("user-agent"))


@pytest.mark.parametrize(
    "given", [{"base_url": "nowhere"}, {"base_url": "ftp://host"}, {"base_url": "http://h:port"}, {"api_key": "a\nb"}]
)
def test_what_cannot_be_used_is_told_before_a_call(given: Any) -> None:
    with pytest.raises(InvalidCall, match=r"base_url: '|api_key: "):
        Client(**given)


def test_every_error_is_of_the_one_tree() -> None:
    import loom_client

    kinds = [getattr(loom_client, name) for name in loom_client.__all__]
    errors = [kind for kind in kinds if issubclass(kind, Exception)]
    assert len(errors) == 15
    assert all(issubclass(kind, LoomClientError) for kind in errors)
    with pytest.raises(AttributeError, match="Clyent"):
        loom_client.Clyent  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]
