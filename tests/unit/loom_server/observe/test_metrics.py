"""Metrics: worked numbers, registries apart, and no series that nobody foresaw."""

from __future__ import annotations

from math import prod
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_text

from loom_server.errors import EmbedError
from loom_server.model.candidate import LegResult
from loom_server.observe.labels import OTHER
from loom_server.observe.meters import METERS
from loom_server.observe.metrics import Metrics
from loom_server.observe.seen import SearchSeen, WriteSeen

SETS = {meter.name.removesuffix("_total"): meter.labels for meter in METERS}
MOST = {
    meter.name.removesuffix("_total"): max(1, len(meter.buckets) + 3)
    * prod(len(values) + 1 for values in meter.labels.values())
    for meter in METERS
}
LEGS = (LegResult("fact", "ok", (1, 2, 3), milliseconds=4.0), LegResult("bm25", "failed", milliseconds=2.0))
ABSTAINED = SearchSeen(
    "o", "n", "rrf", "abstained", 0.02, LEGS, 3, 2, "no_match", ("bm25: unexpected_KeyError", "fact: embed_error"), 0.3
)


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"loom_{name}", labels)


def strangers(metrics: Metrics) -> list[Any]:
    """Label values that are in no closed set."""
    return [
        (sample.name, label, told)
        for family in metrics.registry.collect()
        for sample in family.samples
        for label, told in sample.labels.items()
        if label != "le" and told not in {*SETS[family.name][label], OTHER}
    ]


def test_a_search_is_told_whole() -> None:
    metrics = Metrics()
    metrics.searched(ABSTAINED)
    assert value(metrics, "search_total", mode="rrf", outcome="abstained") == 1
    assert value(metrics, "search_duration_seconds_sum", mode="rrf", outcome="abstained") == 0.02
    assert value(metrics, "search_duration_seconds_bucket", mode="rrf", outcome="abstained", le="0.01") == 0
    assert value(metrics, "search_duration_seconds_bucket", mode="rrf", outcome="abstained", le="0.025") == 1
    assert value(metrics, "leg_duration_seconds_sum", leg="fact", outcome="ok") == 0.004
    assert value(metrics, "leg_candidates_sum", leg="fact") == 3
    assert value(metrics, "leg_degraded_total", leg="bm25", reason="unexpected") == 1
    assert value(metrics, "leg_degraded_total", leg="fact", reason="embed_error") == 1
    assert value(metrics, "pool_size_sum") == 3
    assert value(metrics, "abstain_total", code="no_match") == 1
    assert value(metrics, "top_similarity_bucket", le="0.3") == 1
    assert value(metrics, "top_similarity_bucket", le="0.2") == 0


def test_a_search_that_raised_has_neither_a_pool_nor_a_verdict() -> None:
    metrics = Metrics()
    metrics.searched(SearchSeen("o", "n", "", "deadline", 0.5, error="deadline_exceeded"))
    assert value(metrics, "search_total", mode="other", outcome="deadline") == 1
    assert value(metrics, "pool_size_count") == 0
    assert value(metrics, "top_similarity_count") == 0


def test_an_embedder_is_timed_and_its_failures_counted() -> None:
    metrics = Metrics()
    with metrics.embedding("static", "query"):
        pass
    with pytest.raises(EmbedError), metrics.embedding("static", "passage"):
        raise EmbedError("down")
    assert value(metrics, "embed_duration_seconds_count", provider="static", role="query") == 1
    assert value(metrics, "embed_duration_seconds_count", provider="static", role="passage") == 1
    assert value(metrics, "embed_errors_total", provider="static", role="passage", reason="embed_error") == 1


def test_a_cache_counts_hits_and_misses() -> None:
    metrics = Metrics()
    count = metrics.cache("embed")
    count(3, 0)
    count(1, 2)
    assert value(metrics, "cache_requests_total", cache="embed", result="hit") == 4
    assert value(metrics, "cache_requests_total", cache="embed", result="miss") == 2


def test_gauges_ask_when_they_are_asked() -> None:
    metrics, state = Metrics(), {"up": 1.0, "queued": 0, "used": 0}
    metrics.opened("embedded", lambda: state["up"], lambda: int(state["queued"]))
    metrics.pool(lambda: int(state["used"]))
    state.update(up=2.5, queued=7, used=3)
    assert [value(metrics, name) for name in ("uptime_seconds", "write_queue_rows", "clickhouse_pool_in_use")] == [
        2.5, 7, 3,
    ]  # fmt: skip
    assert value(metrics, "build_info", version="0.1.0", backend="embedded") == 1


def test_two_services_count_apart() -> None:
    one, other = Metrics(), Metrics()
    one.wrote(WriteSeen("o", "n", "memory.set", "written", 0.01, 1, 1))
    assert value(one, "write_total", operation="memory.set", outcome="written") == 1
    assert value(other, "write_total", operation="memory.set", outcome="written") is None


@pytest.mark.parametrize(
    ("accept", "kind", "parse"),
    [
        ("", "text/plain; version=0.0.4", plain_text),
        ("text/plain", "text/plain", plain_text),
        ("application/openmetrics-text; version=1.0.0", "application/openmetrics-text", open_metrics),
    ],
)
def test_both_formats_can_be_parsed(accept: str, kind: str, parse: Any) -> None:
    metrics = Metrics()
    metrics.searched(ABSTAINED)
    body, media_type = metrics.exposition(accept)
    assert media_type.startswith(kind)
    found = {sample.name: sample.value for family in parse(body.decode()) for sample in family.samples}
    assert found["loom_search_total"] == 1
    assert not [name for name in found if name.endswith("_created")]


@given(words=st.lists(st.text(max_size=30), min_size=8, max_size=8), number=st.integers(0, 10**6))
def test_no_label_value_is_ever_one_that_nobody_foresaw(words: list[str], number: int) -> None:
    metrics = Metrics()
    tell_everything(metrics, words, number)
    assert strangers(metrics) == []


def test_the_number_of_series_is_bounded() -> None:
    metrics = Metrics()
    for number in range(300):
        tell_everything(metrics, [f"word {number} {place}" for place in range(8)], number)
    for family in metrics.registry.collect():
        assert len(family.samples) <= MOST[family.name]
    assert sum(len(family.samples) for family in metrics.registry.collect()) < 300


def tell_everything(metrics: Metrics, words: list[str], number: int) -> None:
    """Call every method with words for labels that nobody foresaw."""
    a, b, c, d, e, f, g, h = words
    leg = LegResult(a, b, (1,), milliseconds=1.0)  # type: ignore[arg-type]
    metrics.searched(SearchSeen(a, b, c, d, 0.1, (leg,), number, 1, e, (f"{f}: {g}", h), 0.5))
    metrics.wrote(WriteSeen(a, b, c, d, 0.1, 1))
    metrics.statement(a, 0.1, number, b)
    with metrics.embedding(c, d):
        pass
    metrics.cache(e)(1, 1)
    metrics.answered(f, g, number)
    metrics.calls(h, 1, 1)
    metrics.swept(a, 1)
    metrics.stage(b, 1.0)
    metrics.group(number)
    metrics.opened(c, lambda: 1.0, lambda: 1)
