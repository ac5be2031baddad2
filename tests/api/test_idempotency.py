"""Idempotency-Key: on both doors, for every write, over real services and across a restart."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from doors import MINIMAL, StandIn, client_of
from gated import GatedStore
from loom_client import wire
from loom_server.api.call import is_final
from loom_server.embed.choose import make_embedder
from loom_server.service.open import assemble
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from served import serving

WRITES = [name for name, contract in wire.CONTRACTS.items() if contract.access == "write"]
READS = [name for name in wire.CONTRACTS if name not in WRITES]


def keyed(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


def post(client: Any, name: str, body: dict[str, Any], key: str | None = None) -> Any:
    return client.post(f"/v1/{name}", json=body, headers=keyed(key) if key else {})


def called(client: TestClient, name: str, body: object, key: str, identity: int = 1) -> Any:
    call = {"jsonrpc": "2.0", "id": identity, "method": name, "params": body}
    return client.post("/rpc", json=call, headers=keyed(key)).json()


@pytest.mark.parametrize("name", WRITES)
def test_a_repeat_is_answered_byte_for_byte_and_done_once(client: TestClient, org: str, name: str) -> None:
    post(client, "memory.set", {"org": org, "memory_key": "k", "value": "before"})
    body = {"org": org, **MINIMAL[name]}
    first = post(client, name, body, "key-1")
    assert first.status_code == 200
    again = post(client, name, body, "key-1")
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["X-Request-ID"] != first.headers["X-Request-ID"]
    assert called(client, name, body, "key-1")["result"] == first.json()


def test_a_repeat_changes_nothing_though_others_wrote_meanwhile(client: TestClient, org: str) -> None:
    body = {"org": org, "memory_key": "k", "value": "mine"}
    first = post(client, "memory.set", body, "a")
    post(client, "memory.set", {**body, "value": "theirs"})
    assert post(client, "memory.set", body, "a").content == first.content
    assert post(client, "memory.get", {"org": org, "memory_key": "k"}).json()["value"] == "theirs"
    assert post(client, "memory.set", body).json()["version"] == 3


def test_the_doors_know_the_same_keys(client: TestClient, org: str) -> None:
    body = {"org": org, "memory_key": "k", "value": "v"}
    told = called(client, "memory.set", body, "shared", 7)
    assert told["id"] == 7
    assert post(client, "memory.set", body, "shared").json() == told["result"]
    assert called(client, "memory.set", {**body, "value": "w"}, "shared")["error"]["code"] == -32004


def test_the_order_of_fields_and_spaces_make_no_other_request(client: TestClient, org: str) -> None:
    headers = {**keyed("a"), "content-type": "application/json"}
    first = client.post(
        "/v1/memory.set", content=f'{{"org":"{org}","memory_key":"k","value":{{"a":1,"b":2}}}}', headers=headers
    )
    again = client.post(
        "/v1/memory.set",
        content=f'{{ "value": {{"b": 2, "a": 1}}, "memory_key": "k", "org": "{org}" }}',
        headers=headers,
    )
    assert (again.status_code, again.content) == (200, first.content)


@pytest.mark.parametrize("other", [{"value": "w"}, {"memory_key": "k2"}, {"namespace": "n2"}, {"tags": ["t"]}])
def test_another_body_is_a_conflict(client: TestClient, org: str, other: dict[str, Any]) -> None:
    body = {"org": org, "memory_key": "k", "value": "v"}
    post(client, "memory.set", body, "a")
    refused = post(client, "memory.set", {**body, **other}, "a")
    detail = refused.json()["detail"]
    assert (refused.status_code, detail["code"], detail["retryable"]) == (409, "conflict", False)
    assert [one["path"] for one in detail["errors"]] == ["Idempotency-Key"]
    assert detail["message"] == (
        "Idempotency-Key: names another memory.set of this org; take a new key for a new call."
    )
    assert not post(client, "memory.get", {"org": org, "memory_key": "k2"}).json()["found"]


def test_another_operation_and_another_org_have_keys_of_their_own(client: TestClient, org: str) -> None:
    body = {"org": org, "memory_key": "k", "value": "v"}
    post(client, "memory.set", body, "a")
    assert post(client, "memory.delete", {"org": org, "memory_key": "k"}, "a").json()["tombstoned"]
    assert post(client, "memory.set", {**body, "org": f"{org}-2"}, "a").json()["noop"] is False


def test_a_refused_request_is_not_remembered(client: TestClient, org: str) -> None:
    body = {"org": org, "memory_key": "k", "value": "v"}
    assert post(client, "memory.set", {**body, "nonsense": 1}, "a").status_code == 422
    assert post(client, "memory.update", body, "b").json()["reason"] == "not_found"
    lost = {**body, "if_match_sha256": "0" * 64}
    assert post(client, "memory.set", lost, "c").status_code == 409
    assert post(client, "memory.set", body, "a").status_code == 200
    assert post(client, "memory.set", body, "c").status_code == 200


@pytest.mark.parametrize("key", ["", " ", "two words", "k" * 256, "tab\there", "caf\u00e9".encode().decode("latin-1")])
@pytest.mark.parametrize("name", ["memory.set", "memory.search"])
def test_a_key_has_a_form(client: TestClient, name: str, key: str) -> None:
    raw = [(b"idempotency-key", key.encode("latin-1"))]
    refused = client.post(f"/v1/{name}", json=MINIMAL[name], headers=raw)
    detail = refused.json()["detail"]
    assert (refused.status_code, detail["code"]) == (422, "invalid_input")
    assert [one["path"] for one in detail["errors"]] == ["Idempotency-Key"]


@pytest.mark.parametrize("key", ["k", "k" * 255, '"8e03978e-40d5"', "!~"])
def test_what_has_it_is_taken(client: TestClient, org: str, key: str) -> None:
    body = {"org": org, "memory_key": "k", "value": "v"}
    assert post(client, "memory.set", body, key).content == post(client, "memory.set", body, key).content


def test_two_keys_are_none(client: TestClient, org: str) -> None:
    headers = [(b"idempotency-key", b"a"), (b"idempotency-key", b"b")]
    assert client.post("/v1/memory.set", json=MINIMAL["memory.set"], headers=headers).status_code == 422


@pytest.mark.parametrize("name", READS)
def test_a_read_takes_no_key(client: TestClient, name: str) -> None:
    refused = post(client, name, MINIMAL[name], "a")
    assert refused.json()["detail"]["message"] == f"Idempotency-Key: is for writes; leave it out of {name}"
    assert called(client, name, MINIMAL[name], "a")["error"]["code"] == -32602


def test_a_batch_takes_no_key(client: TestClient, org: str) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "memory.set", "params": {"org": org, **MINIMAL["memory.set"]}}
    answer = client.post("/rpc", json=[call, {**call, "id": 2}], headers=keyed("a"))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], answer.json()["id"]) == (200, -32602, None)
    assert "names one call" in error["message"]
    assert not post(client, "memory.get", {"org": org, "memory_key": "k"}).json()["found"]


def test_a_repeat_waits_for_the_first(store: EmbeddedStore, org: str) -> None:
    gated, settings = GatedStore(store, ("insert.memory",)), Settings()
    services = assemble(gated, make_embedder(settings), settings)
    body = {"org": org, "memory_key": "k", "value": "v"}
    with client_of(services) as client, ThreadPoolExecutor(3) as executor:
        first = executor.submit(post, client, "memory.set", body, "a")
        assert gated.waiting.acquire(timeout=30)
        repeat = executor.submit(post, client, "memory.set", body, "a")
        assert post(client, "memory.set", {**body, "value": "w"}, "a").status_code == 409
        assert not first.done()
        assert not repeat.done()
        gated.gate.set()
        assert repeat.result(30).content == first.result(30).content
        assert first.result().json()["version"] == 1
        history = post(client, "memory.history", {"org": org, "memory_key": "k"}).json()
        assert len(history["versions"]) == 1
    services.writer.close()
    services.searcher.executor.shutdown()


@pytest.mark.parametrize(("retryable", "final"), [(False, True), (True, False)])
def test_many_are_remembered_unless_an_item_may_yet_come_through(retryable: bool, final: bool) -> None:
    problem = wire.Problem(code="c", message="m", category="store", retryable=retryable)
    refused = wire.MemoryRefused(memory_key="k", status="refused", error=problem)
    answer = wire.MemorySetManyResponse(results=(refused,), written=0, unchanged=0, refused=1)
    assert is_final(answer) == final


def test_without_a_key_nothing_is_asked_or_kept(client: TestClient, store: EmbeddedStore, org: str) -> None:
    seen: list[str] = []
    stop = store.observe(lambda statement, *_: seen.append(statement))
    post(client, "memory.set", {"org": org, "memory_key": "k", "value": "v"})
    stop()
    assert not [one for one in seen if "idempotency" in one]


def test_a_starting_service_looks_at_no_key() -> None:
    with client_of(None) as client:
        assert post(client, "memory.set", MINIMAL["memory.set"], "a").status_code == 503


def test_an_error_that_nobody_foresaw_is_not_remembered() -> None:
    def broken(*_: Any) -> wire.Answer:
        raise RuntimeError("secret")

    with client_of(StandIn(broken)) as client:
        assert post(client, "memory.set", MINIMAL["memory.set"], "a").json()["detail"]["code"] == "internal"


def test_a_key_outlives_the_process(tmp_path: Path) -> None:
    body = {"memory_key": "k", "value": "v"}
    answers: list[bytes] = []
    for _ in range(2):
        with serving(tmp_path / "data", embedder="hash") as address, httpx.Client(base_url=address) as client:
            answers.append(post(client, "memory.set", body, "a").content)
            assert post(client, "memory.set", {**body, "value": "w"}, "a").status_code == 409
            post(client, "memory.set", {**body, "value": "theirs"})
    assert answers[0] == answers[1]
    assert b'"noop":false' in answers[1]
