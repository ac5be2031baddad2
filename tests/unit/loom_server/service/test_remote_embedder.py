"""A whole service whose embedder is an API: what is written and found while it works, while it is down, and after.

The store is real, and so are the SDK and its wire; the endpoint is a local server.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from embedding_server import KEY, EmbeddingServer, embedding_server
from loom_client import wire
from loom_server.embed import breaker, caller, remote
from loom_server.embed.choose import make_embedder
from loom_server.model.deadline import Deadline
from loom_server.observe.metrics import Metrics
from loom_server.service.open import assemble
from loom_server.store.embedded import EmbeddedStore
from spaces import Space

MODEL = "openai:text-embedding-3-small:256:1"
MODES = ("semantic", "rrf", "hybrid", "bm25_hybrid", "lexical")


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def space(
    store: EmbeddedStore, org: str, server: EmbeddingServer, metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Space]:
    """Three rows, written while all was well. Nothing pauses, so that nothing must be waited for."""
    monkeypatch.setattr(caller, "PAUSES_S", (0.0, 0.0))
    monkeypatch.setattr(breaker, "PAUSE_S", 0.0)
    monkeypatch.setattr(remote, "FRESH_S", 0.0)
    settings = server.settings("openai", memory_search_floor_mode="readmit")
    services = assemble(store, make_embedder(settings, metrics), settings, metrics=metrics)
    space = Space(services, org)
    space.fill({"door": "the front door is blue", "roof": "the roof leaks since March", "cat": "Mia feeds the cat"})
    yield space
    services.writer.close()
    services.searcher.executor.shutdown()


def health(space: Space) -> wire.OpsHealthResponse:
    return space.services.health(wire.OpsHealthRequest(), Deadline(5))


def embedder(told: wire.OpsHealthResponse) -> wire.HealthCheck:
    (check,) = (one for one in told.checks if one.name == "embedder")
    return check


def test_rows_and_questions_get_vectors(space: Space, server: EmbeddingServer) -> None:
    assert len(server.asked) == 1
    found = space.search("which colour has the front door")
    assert found.results[0].memory_key == "door"
    assert found.results[0].similarity > 0.3
    assert (found.degraded, found.embedding_model) == ((), MODEL)
    assert server.texts[3:] == ["which colour has the front door"]
    space.search("which colour has the front door")
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("kind", "mode"),
    [*(("status", mode) for mode in MODES), *((kind, MODES[0]) for kind in ("drop", "html", "nan", "dimension"))],
)
def test_a_search_goes_on_with_the_words_and_says_so(
    space: Space, server: EmbeddingServer, kind: str, mode: str
) -> None:
    server.order(kind)
    found = space.search("which colour has the front door", search_mode=mode)
    assert found.results[0].memory_key == "door"
    assert found.degraded == ("fact: embed_error",)
    server.order("fine")
    again = space.search("which colour has the front door", search_mode=mode)
    assert (again.results[0].memory_key, again.degraded) == ("door", ())


def test_a_slow_endpoint_costs_a_search_half_of_its_time(space: Space, server: EmbeddingServer) -> None:
    server.order("slow", seconds=5.0)
    body = {**space.tenant, "query": "which colour has the front door"}
    found = space.services.search(wire.MemorySearchRequest.model_validate(body), Deadline(3.0))
    assert (found.results[0].memory_key, found.degraded) == ("door", ("fact: embed_error",))


def test_a_row_that_is_written_meanwhile_is_found_by_its_words(space: Space, server: EmbeddingServer) -> None:
    server.order("status", status=503)
    written = space.set("car", "the car needs new tyres")
    assert written.degraded == ("embed: embed_error",)
    assert space.keys("needs new tyres")[0] == "car"
    many = space.fill({"bike": "the bike has a flat tyre", "bus": "the bus is late"})
    stored = [one.degraded for one in many.results if isinstance(one, wire.MemorySetResponse)]
    assert stored == [("embed: embed_error",)] * 2
    server.order("fine")
    found = space.search("needs new tyres")
    assert (found.results[0].memory_key, found.degraded) == ("car", ())
    assert space.set("car", "the car needs four new tyres").degraded == ()
    assert space.search("needs new tyres").results[0].similarity > 0.3


def test_health_tells_of_it_without_the_key(space: Space, server: EmbeddingServer) -> None:
    well = health(space)
    assert (well.status, embedder(well).detail) == ("ok", MODEL)
    server.order("status", status=401)
    ill = health(space)
    assert (ill.status, embedder(ill).ok) == ("degraded", False)
    assert "check LOOM_EMBEDDER_API_KEY" in embedder(ill).detail
    assert KEY not in ill.model_dump_json()
    server.order("fine")
    assert health(space).status == "ok"


def test_what_happened_is_counted(space: Space, server: EmbeddingServer, metrics: Metrics) -> None:
    server.order("status", status=503)
    space.search("which colour has the front door")
    told = metrics.exposition("")[0].decode()
    assert 'loom_embed_requests_total{outcome="ok",provider="openai"} 1.0' in told
    assert 'loom_embed_requests_total{outcome="failed",provider="openai"} 3.0' in told
    assert 'loom_embed_errors_total{provider="openai",reason="embed_error",role="query"} 1.0' in told
    assert 'loom_leg_degraded_total{leg="fact",reason="embed_error"} 1.0' in told
