"""Lowering, superseding and dropping touch the rows that are named and no other, and may be done again."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from loom_server.store import versions as module
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.named import Row
from loom_server.store.versions import Ending, drop, lower, supersede
from writing import NAMESPACE, a_draft, a_key, live_ids, table, versions, write, writing

INDEXES = ("memory_embeddings", "postings")
NOW = datetime(2026, 3, 1, 12, 0, 0, 5_000, tzinfo=UTC)


@pytest.fixture
def executor() -> Iterator[Executor]:
    with ThreadPoolExecutor(1) as threads:
        yield threads


def written(store: EmbeddedStore, org: str, number: int) -> list[int]:
    with writing(store) as writer:
        return [one.row_id for one in write(writer, *(a_draft(org, f"k{index}") for index in range(number)))]


def test_lower_takes_rows_out_of_both_indexes(store: EmbeddedStore, org: str, executor: Executor) -> None:
    ids = written(store, org, 3)
    for _ in range(2):
        lower(store, [Row(org, NAMESPACE, ids[0]), Row(org, NAMESPACE, ids[2])], executor)
        assert [live_ids(store, org, index) for index in INDEXES] == [{ids[1]}] * 2
    assert table(store, "postings", org, "uniq(id)") == [(3,)]


def test_a_row_is_not_changed_under_another_tenant_s_name(store: EmbeddedStore, org: str, executor: Executor) -> None:
    ids = written(store, org, 1)
    lower(store, [Row(f"{org}-b", NAMESPACE, ids[0]), Row(f"{org}-b", "other", ids[0])], executor)
    drop(store, [Row(f"{org}-b", NAMESPACE, ids[0])], executor)
    assert live_ids(store, org, "postings") == set(ids)


def test_drop_removes_the_projections(store: EmbeddedStore, org: str, executor: Executor) -> None:
    ids = written(store, org, 2)
    for _ in range(2):
        drop(store, [Row(org, NAMESPACE, ids[0])], executor)
        assert [live_ids(store, org, index) for index in INDEXES] == [{ids[1]}] * 2
        assert table(store, "postings", org, "DISTINCT id") == [(ids[1],)]
    assert len(versions(store, org)) == 2


def test_supersede_marks_each_with_its_own_successor(store: EmbeddedStore, org: str) -> None:
    ids = written(store, org, 3)
    for _ in range(2):
        supersede(store, [Ending(a_key(org, "k0"), ids[0], 70), Ending(a_key(org, "k2"), ids[2], 72)], NOW)
        assert versions(store, org, "toString(status), superseded_by, superseded_at") == [
            ("superseded", 70, NOW),
            ("live", 0, None),
            ("superseded", 72, NOW),
        ]


def test_many_rows_go_in_several_statements(
    store: EmbeddedStore, org: str, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 2)
    ids = written(store, org, 5)
    lower(store, [Row(org, NAMESPACE, one) for one in ids], executor)
    supersede(store, [Ending(a_key(org, f"k{index}"), one, one + 1) for index, one in enumerate(ids)], NOW)
    assert live_ids(store, org, "postings") == set()
    assert versions(store, org, "superseded_by") == [(one + 1,) for one in ids]


def test_nothing_to_do_asks_nothing(store: EmbeddedStore, executor: Executor) -> None:
    lower(store, [], executor)
    drop(store, [], executor)
    supersede(store, [], NOW)
