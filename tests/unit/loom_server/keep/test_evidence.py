"""Each kind of damage, made on purpose, is found, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import pytest

from loom_server.keep import evidence
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.named import Row
from loom_server.store.store import Statement
from loom_server.store.versions import Ending
from writing import NAMESPACE, a_draft, a_key, change, damage, delete, write, writing


def found(pages: Iterable[list[Any]], org: str) -> list[Any]:
    flat = [one for page in pages for one in page]
    return [one for one in flat if (one.org if isinstance(one, Row) else one.key.org) == org]


def everything(store: EmbeddedStore, org: str) -> dict[str, list[Any]]:
    kinds: tuple[Callable[..., Any], ...] = (evidence.orphans, evidence.raised, evidence.stale, evidence.missing)
    return {kind.__name__: found(kind(store), org) for kind in kinds if found(kind(store), org)}


def history(store: EmbeddedStore, org: str) -> list[int]:
    """Ids of `a`'s first version, of its second, and of `b`; `c` is deleted."""
    with writing(store) as writer:
        (first, other, _) = write(writer, a_draft(org, "a"), a_draft(org, "b"), a_draft(org, "c"))
        (second,) = write(writer, a_draft(org, "a", text="new"))
        delete(writer, a_key(org, "c"))
    return [first.row_id, second.row_id, other.row_id]


def test_finished_writes_give_nothing_away(store: EmbeddedStore, org: str) -> None:
    history(store, org)
    assert everything(store, org) == {}


@pytest.mark.parametrize("index", ["postings", "memory_embeddings"])
def test_index_rows_without_a_version_are_orphans(store: EmbeddedStore, org: str, index: str) -> None:
    ids = history(store, org)
    gone = "memory_embeddings" if index == "postings" else "postings"
    change(store, "DELETE FROM loom.memory", org, ids[2])
    change(store, f"DELETE FROM loom.{gone}", org, ids[2])
    row = Row(org, NAMESPACE, ids[2])
    assert everything(store, org) == {"orphans": [row], "raised": [row]}


def test_an_orphan_with_its_flags_down_is_still_one(store: EmbeddedStore, org: str) -> None:
    ids = history(store, org)
    change(store, "DELETE FROM loom.memory", org, ids[0])
    assert everything(store, org) == {"orphans": [Row(org, NAMESPACE, ids[0])] * 2}


@pytest.mark.parametrize("index", ["postings", "memory_embeddings"])
def test_a_live_flag_of_a_version_that_is_not_live_is_raised(store: EmbeddedStore, org: str, index: str) -> None:
    ids = history(store, org)
    change(store, f"UPDATE loom.{index} SET live = 1", org, ids[0])
    assert everything(store, org) == {"raised": [Row(org, NAMESPACE, ids[0])]}


def test_a_live_version_that_is_not_the_newest_is_stale(store: EmbeddedStore, org: str) -> None:
    ids = history(store, org)
    change(store, "UPDATE loom.memory SET status = 'live'", org, ids[0])
    assert everything(store, org) == {
        "stale": [Ending(a_key(org, "a"), ids[0], ids[1])],
        "missing": [Row(org, NAMESPACE, ids[0])],
    }


def test_a_live_version_without_postings_is_missing(store: EmbeddedStore, org: str) -> None:
    ids = history(store, org)
    change(store, "DELETE FROM loom.postings", org, ids[1])
    assert everything(store, org) == {"missing": [Row(org, NAMESPACE, ids[1])]}


def versions_in(store: EmbeddedStore) -> int:
    """Of all tests that share the store."""
    return cast(int, store.query(Statement("test.versions", "SELECT count() AS n FROM loom.memory")).column("n")[0])


def test_answers_come_in_pages_and_ids_in_passes(
    store: EmbeddedStore, org: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts = [a_draft(org, f"k{number}", namespace=f"n{number % 2}") for number in range(7)]
    with writing(store) as writer:
        ids = {outcome.row_id for outcome in write(writer, *drafts)}
    damage(store, "DELETE FROM loom.memory WHERE org = {org:String}", org=org)
    monkeypatch.setattr(evidence, "PAGE", 2)
    monkeypatch.setattr(evidence, "PASS_ROWS", 1 + versions_in(store) // 3)
    assert {row.id for row in found(evidence.orphans(store), org)} == ids
    assert max(len(page) for page in evidence.orphans(store)) <= 2


def test_stale_versions_come_in_pages(store: EmbeddedStore, org: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drafts = [a_draft(org, f"k{number}") for number in range(5)]
    with writing(store) as writer:
        ids = {outcome.row_id for outcome in write(writer, *drafts)}
        write(writer, *(a_draft(org, f"k{number}", text="new") for number in range(5)))
    damage(store, "UPDATE loom.memory SET status = 'live' WHERE org = {org:String}", org=org)
    monkeypatch.setattr(evidence, "PAGE", 2)
    assert {ending.id for ending in found(evidence.stale(store), org)} == ids


def test_recent_namespaces_are_those_of_the_last_commits(store: EmbeddedStore, org: str) -> None:
    with writing(store) as writer:
        write(writer, a_draft(org, namespace="x"), a_draft(org, namespace="y"))
        (last,) = write(writer, a_draft(org, namespace="z"))
    recent = set(evidence.recent(store))
    assert {(org, name) for name in "xyz"} <= recent
    damage(store, "DELETE FROM loom.memory WHERE org = {org:String} AND namespace = 'x'", org=org)
    assert (org, "x") not in evidence.recent(store)
    assert {(org, name) for name in "xyz"} <= set(evidence.namespaces(store))
    assert last.row_id
