"""`/metrics`: over real services, whatever callers send makes no series that nobody foresaw."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from doors import ADDRESS, HEALTHY, JSON, StandIn, raising
from loom_client import wire
from loom_server.api.app import create_app
from loom_server.embed.choose import make_embedder
from loom_server.errors import StoreUnavailable
from loom_server.observe.labels import OTHER
from loom_server.observe.meters import METERS
from loom_server.observe.metrics import Metrics
from loom_server.service.open import assemble
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore

STRANGE = "s3cret-\u00fc '\"\\\n{}"
SETS = {meter.name.removesuffix("_total"): meter.labels for meter in METERS}


@pytest.fixture(scope="module")
def counted(store: EmbeddedStore) -> Iterator[TestClient]:
    """A client of the doors over services of their own that count."""
    settings, metrics = Settings(), Metrics()
    services = assemble(store, make_embedder(settings, metrics), settings, metrics=metrics)
    with TestClient(create_app(lambda: services, settings, metrics=metrics), ADDRESS) as client:
        yield client
    services.writer.close()
    services.searcher.executor.shutdown()


def samples(client: TestClient) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample by its name and its labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(client.get("/metrics").text)
        for sample in family.samples
    }


def total(client: TestClient, name: str, **labels: str) -> float:
    """The sum of a metric's samples that carry the labels."""
    wanted = set(labels.items())
    return sum(value for (found, told), value in samples(client).items() if found == name and wanted <= set(told))


def test_searches_and_writes_are_counted_down_to_their_statements(counted: TestClient, org: str) -> None:
    before = samples(counted)
    body = {"org": org, "memory_key": "deploy", "value": "Deploys go out on Tuesdays."}
    assert counted.post("/v1/memory.set", json=body).status_code == 200
    assert counted.post("/v1/memory.set", json=body).status_code == 200
    for _ in range(2):
        counted.post("/v1/memory.search", json={"org": org, "query": "When do deploys go out?"})
    after = samples(counted)

    def more(name: str, **labels: str) -> float:
        key = (name, tuple(sorted(labels.items())))
        return after.get(key, 0.0) - before.get(key, 0.0)

    assert more("loom_write_total", operation="memory.set", outcome="written") == 1
    assert more("loom_write_total", operation="memory.set", outcome="unchanged") == 1
    assert more("loom_search_total", mode="semantic", outcome="answered") == 2
    assert more("loom_leg_duration_seconds_count", leg="fact", outcome="ok") == 2
    assert more("loom_pool_size_count") == more("loom_top_similarity_count") == 2
    assert more("loom_clickhouse_query_duration_seconds_count", statement="leg.fact", outcome="ok") == 2
    assert more("loom_clickhouse_query_duration_seconds_count", statement="insert.memory", outcome="ok") == 1
    assert more("loom_cache_requests_total", cache="kept_rows", result="miss") == 1
    assert more("loom_cache_requests_total", cache="kept_rows", result="hit") == 1
    assert more("loom_cache_requests_total", cache="embed", result="hit") >= 2
    assert more("loom_embed_duration_seconds_count", provider="static", role="query") == 1
    assert more("loom_embed_duration_seconds_count", provider="static", role="passage") == 1
    assert more("loom_write_group_rows_count") == 2
    assert more("loom_requests_total", door="http", operation="memory.set", status="200") == 2


def test_whatever_callers_send_makes_no_label_of_its_own(counted: TestClient, org: str) -> None:
    tenant = {"org": org, "namespace": "s3cret-namespace"}
    for body in (
        {**tenant, "query": STRANGE, "search_mode": STRANGE},
        {**tenant, "query": STRANGE, "legs": [STRANGE]},
        {**tenant, "query": STRANGE, STRANGE: STRANGE},
        {**tenant, "query": STRANGE, "timeout_ms": 1},
        {**tenant, "query": STRANGE, "user_id": "s3cret-user"},
    ):
        counted.post("/v1/memory.search", json=body)
    counted.post("/v1/memory.set", json={**tenant, "memory_key": "s3cret/key", "value": STRANGE, "agent": "s3cret"})
    counted.post("/v1/s3cret.operation", json={})
    counted.post("/v1/memory.get", content=b"s3cret", headers=JSON)
    counted.get("/s3cret/path?s3cret=1")
    counted.get("/v1/memory.get")
    counted.post("/rpc", json={"jsonrpc": "2.0", "id": 1, "method": "s3cret.method", "params": {}})
    counted.post("/rpc", json=[{"jsonrpc": "s3cret"}])
    counted.post("/rpc", content=b"s3cret", headers=JSON)
    counted.post("/v1/memory.get", json={}, headers={"host": "s3cret.example"})
    text = counted.get("/metrics").text
    assert "s3cret" not in text
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            for label, value in sample.labels.items():
                assert label == "le" or value in {*SETS[family.name][label], OTHER}, sample


def test_each_door_counts_its_answers_with_the_status_of_http(counted: TestClient, org: str) -> None:
    def count(**labels: str) -> float:
        return total(counted, "loom_requests_total", **labels)

    call = {"jsonrpc": "2.0", "id": 1, "method": "memory.get", "params": {"org": org, "memory_key": "k"}}
    wrong = {**call, "params": {"org": org}}
    before = count(door="rpc")
    counted.post("/rpc", json=[call, wrong, {**call, "method": "nothing"}, {"no": "call"}])
    assert count(door="rpc") == before + 4
    assert count(door="rpc", operation="memory.get", status="422") == 1
    assert count(door="rpc", operation="other", status="404") >= 1
    before = count(door="rpc", operation="other", status="400")
    counted.post("/rpc", json=[])
    counted.post("/rpc", content=b"{", headers=JSON)
    assert count(door="rpc", operation="other", status="400") == before + 2
    before = count(door="other", operation="other", status="403")
    counted.get("/health/live", headers={"host": "evil.example"})
    assert count(door="health", operation="other", status="403") == 1
    assert count(door="other", operation="other", status="403") == before
    counted.get("/health/live")
    assert count(door="health", operation="other", status="200") == 1


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [("*/*", "text/plain; version=0.0.4"), ("application/openmetrics-text; version=1.0.0", "application/openmetrics")],
)
def test_the_format_is_the_one_that_is_asked_for(counted: TestClient, accept: str, media_type: str) -> None:
    answer = counted.get("/metrics", headers={"accept": accept})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(media_type)
    assert answer.text.endswith("# EOF\n") == ("openmetrics" in media_type)
    assert "X-Request-ID" in answer.headers


def test_the_route_keeps_the_rules_of_the_others(counted: TestClient) -> None:
    assert counted.get("/metrics", headers={"host": "evil.example"}).status_code == 403
    answer = counted.post("/metrics", json={})
    assert (answer.status_code, answer.json()["detail"]["code"]) == (405, "method_not_allowed")
    assert "/metrics" not in counted.get("/openapi.json").json()["paths"]


def test_it_answers_while_the_service_starts() -> None:
    metrics = Metrics()
    with TestClient(create_app(lambda: None, Settings(), metrics=metrics), ADDRESS) as client:
        assert client.post("/v1/memory.list", json={}).status_code == 503
        assert total(client, "loom_requests_total", operation="memory.list", status="503") == 1


def test_without_metrics_there_is_no_route() -> None:
    with TestClient(create_app(lambda: None, Settings()), ADDRESS) as client:
        assert client.get("/metrics").json()["detail"]["code"] == "not_found"


def test_an_unforeseen_error_is_an_answer_too() -> None:
    metrics = Metrics()
    app = create_app(lambda: raising(RuntimeError("s3cret")), Settings(), metrics=metrics)  # type: ignore[arg-type]
    with TestClient(app, ADDRESS, raise_server_exceptions=False) as client:
        client.post("/v1/memory.list", json={})
        assert total(client, "loom_requests_total", operation="memory.list", status="500") == 1


def test_it_takes_no_turn_among_calls_that_wait() -> None:
    go, inside = threading.Event(), threading.Semaphore(0)

    def wait(request: object, deadline: object) -> wire.Answer:
        inside.release()
        assert go.wait(30)
        return HEALTHY

    metrics = Metrics()
    app = create_app(lambda: StandIn(wait), Settings(reads_at_once=1), metrics=metrics)  # type: ignore[arg-type]
    with TestClient(app, ADDRESS) as client:
        callers = [threading.Thread(target=client.post, args=("/v1/memory.list",), kwargs={"json": {}}) for _ in "123"]
        for caller in callers:
            caller.start()
        assert inside.acquire(timeout=30)
        try:
            while total(client, "loom_requests_waiting", lane="read") < 2:
                asyncio.run(asyncio.sleep(0.01))
            assert total(client, "loom_requests_running", lane="read") == 1
        finally:
            go.set()
            for caller in callers:
                caller.join()
        assert total(client, "loom_requests_waiting", lane="read") == 0


def test_a_call_that_fails_has_the_status_of_its_error() -> None:
    metrics = Metrics()
    failing = raising(StoreUnavailable("down"))
    app = create_app(lambda: failing, Settings(), metrics=metrics)  # type: ignore[arg-type]
    with TestClient(app, ADDRESS) as client:
        client.post("/v1/memory.search", json={"query": "x"})
        assert total(client, "loom_requests_total", operation="memory.search", status="503") == 1
