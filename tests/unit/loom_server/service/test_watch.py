"""What is told of each search and write: its outcome, how many memories it changed, and never its answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loom_client import wire
from loom_server.embed.hashed import HashedEmbedder
from loom_server.errors import LoomError, TooLarge
from loom_server.model.deadline import Deadline
from loom_server.observe.metrics import Metrics
from loom_server.observe.seen import SearchSeen, WriteSeen
from loom_server.service.open import assemble
from loom_server.service.services import Services
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore


class Remembering(Metrics):
    """Metrics that keep what they were told."""

    def __init__(self) -> None:
        super().__init__()
        self.searches: list[SearchSeen] = []
        self.writes: list[WriteSeen] = []

    def searched(self, seen: SearchSeen) -> None:
        super().searched(seen)
        self.searches.append(seen)

    def wrote(self, seen: WriteSeen) -> None:
        super().wrote(seen)
        self.writes.append(seen)


@pytest.fixture(scope="module")
def metrics() -> Remembering:
    return Remembering()


@pytest.fixture(scope="module")
def watched(store: EmbeddedStore, metrics: Remembering) -> Iterator[Services]:
    """Services that tell `metrics`."""
    opened = assemble(store, HashedEmbedder(), Settings(max_value_bytes=100, embedder="hash"), metrics=metrics)
    yield opened
    opened.writer.close()
    opened.searcher.executor.shutdown()


def soon() -> Deadline:
    return Deadline(30.0)


def told(seen: WriteSeen) -> tuple[str, str, int, int]:
    return seen.operation, seen.outcome, seen.rows, seen.written


def test_each_write_tells_what_it_changed(watched: Services, metrics: Remembering, org: str) -> None:
    metrics.writes.clear()
    for value, dry_run in (("one", False), ("one", False), ("two", True)):
        watched.set(wire.MemorySetRequest(org=org, memory_key="k", value=value, dry_run=dry_run), soon())
    for key in ("k", "nothing"):
        watched.update(wire.MemoryUpdateRequest(org=org, memory_key=key, value="three"), soon())
    for _ in range(2):
        watched.delete(wire.MemoryDeleteRequest(org=org, memory_key="k"), soon())
    assert [told(seen) for seen in metrics.writes] == [
        ("memory.set", "written", 1, 1),
        ("memory.set", "unchanged", 1, 0),
        ("memory.set", "unchanged", 1, 0),
        ("memory.update", "written", 1, 1),
        ("memory.update", "unchanged", 1, 0),
        ("memory.delete", "written", 1, 1),
        ("memory.delete", "unchanged", 1, 0),
    ]
    assert {(seen.org, seen.namespace) for seen in metrics.writes} == {(org, "local")}


@pytest.mark.parametrize(
    ("sizes", "outcome", "written"),
    [((1, 2), "written", 2), ((1, 500), "partial", 1), ((500, 600), "refused", 0)],
)
def test_a_batch_tells_how_much_of_it_was_taken(
    watched: Services, metrics: Remembering, org: str, sizes: tuple[int, ...], outcome: str, written: int
) -> None:
    items = [{"memory_key": f"k{size}", "value": "v" * size} for size in sizes]
    watched.set_many(wire.MemorySetManyRequest.model_validate({"org": org, "items": items}), soon())
    assert told(metrics.writes[-1]) == ("memory.set_many", outcome, 2, written)


def test_a_write_that_raises_tells_its_code(watched: Services, metrics: Remembering, org: str) -> None:
    with pytest.raises(TooLarge):
        watched.set(wire.MemorySetRequest(org=org, memory_key="k", value="v" * 500), soon())
    seen = metrics.writes[-1]
    assert (told(seen), seen.error) == (("memory.set", "refused", 1, 0), "too_large")


def test_a_search_tells_its_stages_and_its_verdict(watched: Services, metrics: Remembering, org: str) -> None:
    watched.set(wire.MemorySetRequest(org=org, memory_key="k", value="the canteen serves soup"), soon())
    answer = watched.search(wire.MemorySearchRequest(org=org, query="canteen soup", search_mode="rrf"), soon())
    seen = metrics.searches[-1]
    assert (seen.mode, seen.served, seen.pooled) == ("rrf", len(answer.results), answer.candidates_total)
    assert (seen.outcome, seen.abstain) == (
        ("abstained", answer.abstain_code) if answer.abstain else ("answered", None)
    )
    assert {leg.leg for leg in seen.legs} == {"fact", "lexical", "bm25"}
    assert seen.similarity == answer.results[0].similarity
    assert 0.0 < seen.seconds < 30.0
    nothing = watched.search(wire.MemorySearchRequest(org=f"{org}-empty", query="x"), soon())
    seen = metrics.searches[-1]
    assert (seen.outcome, seen.abstain, seen.similarity) == ("abstained", nothing.abstain_code, None)


def test_a_search_that_raises_tells_its_code(watched: Services, metrics: Remembering, org: str) -> None:
    before = len(metrics.searches)
    with pytest.raises(LoomError):
        watched.search(wire.MemorySearchRequest(org=org, query="x", search_mode="hybrid"), Deadline(0.0))
    (seen,) = metrics.searches[before:]
    assert (seen.mode, seen.outcome, seen.error, seen.legs) == ("hybrid", "deadline", "deadline_exceeded", ())


def test_services_without_metrics_answer_the_same(services: Services, watched: Services, org: str) -> None:
    assert services.watch.metrics is None
    request = wire.MemorySearchRequest(org=org, query="x", search_mode="lexical", include_tags=True)
    plain, told = (one.search(request, soon()) for one in (services, watched))
    changing = {"retrieval_work", "embedding_model"}
    assert plain.model_dump(exclude=changing) == told.model_dump(exclude=changing)
