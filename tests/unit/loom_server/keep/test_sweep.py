"""A sweep finishes what was begun, drops what was not committed, and makes the roll-ups right."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from loom_server.embed.hashed import HashedEmbedder
from loom_server.errors import StoreUnavailable
from loom_server.keep.sweep import sweep
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.statistics import FACT, CommitDelta, Statistics, roll_ups
from writing import (
    HASH,
    NAMESPACE,
    FailingStore,
    a_draft,
    a_key,
    change,
    delete,
    live_ids,
    roll_ups_of,
    sound,
    table,
    versions,
    write,
    writing,
)

Damage = Callable[[EmbeddedStore, str, list[int]], None]


def uncommitted(store: EmbeddedStore, org: str, ids: list[int]) -> None:
    """A crash before the commit: `b`'s row in `memory` is not there."""
    change(store, "DELETE FROM loom.memory", org, ids[2])


def half_indexed(store: EmbeddedStore, org: str, ids: list[int]) -> None:
    """A crash between the two indexes."""
    uncommitted(store, org, ids)
    change(store, "DELETE FROM loom.memory_embeddings", org, ids[2])


def unended(store: EmbeddedStore, org: str, ids: list[int]) -> None:
    """A crash right after the commit: the old version still stands as if nothing had come."""
    change(store, "UPDATE loom.memory SET status = 'live', superseded_by = 0, superseded_at = NULL", org, ids[0])
    unlowered(store, org, ids)


def unlowered(store: EmbeddedStore, org: str, ids: list[int]) -> None:
    """A crash before the flags went down."""
    for index in ("memory_embeddings", "postings"):
        change(store, f"UPDATE loom.{index} SET live = 1", org, ids[0])


def uncounted(store: EmbeddedStore, org: str, ids: list[int]) -> None:
    """A crash before the roll-ups."""
    for insert in roll_ups([CommitDelta(org, NAMESPACE, FACT, -1, -2, {"red": -1, "fox": -1}, {"red": -1, "fox": -1})]):
        store.insert(insert)


DAMAGES = (uncommitted, half_indexed, unended, unlowered, uncounted)


def history(store: EmbeddedStore, org: str) -> list[int]:
    """Ids of `a`'s first version, of its second, and of `b`; `c` is deleted."""
    with writing(store) as writer:
        first, other, _ = write(writer, a_draft(org, "a", text="red fox"), a_draft(org, "b"), a_draft(org, "c"))
        (second,) = write(writer, a_draft(org, "a", text="blue fox"))
        delete(writer, a_key(org, "c"))
    return [first.row_id, second.row_id, other.row_id]


@pytest.mark.parametrize("damage", DAMAGES)
def test_each_damage_is_mended(store: EmbeddedStore, org: str, damage: Damage) -> None:
    ids = history(store, org)
    damage(store, org, ids)
    assert not sound(store, org)
    report = sweep(store, HASH)
    assert sound(store, org)
    assert not report.quiet
    alive = {ids[1]} if damage in (uncommitted, half_indexed) else {ids[1], ids[2]}
    assert live_ids(store, org, "postings") == live_ids(store, org, "memory_embeddings") == alive
    assert {row[0] for row in versions(store, org, "id, toString(status)") if row[1] == "live"} == alive
    assert roll_ups_of(store, org)[1][-1][:3] == (NAMESPACE, FACT, len(alive))
    assert versions(store, org, "superseded_by")[0] == (ids[1],)


def test_the_report_counts(store: EmbeddedStore, org: str) -> None:
    sweep(store, HASH)
    first = history(store, org)
    second = history(store, f"{org}-b")
    uncommitted(store, org, first)
    unended(store, f"{org}-b", second)
    report = sweep(store, HASH)
    assert (report.dropped, report.superseded, report.lowered, report.mended) == (1, 1, 0, ((org, NAMESPACE),))


def test_a_sound_store_is_left_alone(store: EmbeddedStore, org: str) -> None:
    history(store, org)
    sweep(store, HASH)
    report = sweep(store, HASH)
    assert (report.dropped, report.superseded, report.lowered, report.mended) == (0, 0, 0, ())
    assert report.quiet == (report.missing == 0)


def test_all_damages_at_once(store: EmbeddedStore, org: str) -> None:
    ids = history(store, org)
    for damage in DAMAGES:
        damage(store, org, ids)
    sweep(store, HASH)
    assert sound(store, org)
    assert table(store, "postings", org, "uniq(id)") == [(3,)]


STEPS = ("versions.drop_postings", "versions.drop_memory_embeddings", "versions.lower_vectors", "versions.supersede")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("broken", [*STEPS, "insert.token_df", "insert.corpus_stats"])
def test_a_sweep_that_is_cut_short_is_done_again(store: EmbeddedStore, org: str, broken: str, after: bool) -> None:
    ids = history(store, org)
    for damage in (uncommitted, unended, uncounted):
        damage(store, org, ids)
    failing = FailingStore(store, {broken}, after)
    with pytest.raises(StoreUnavailable):
        sweep(failing, HASH)
    sweep(store, HASH)
    assert sound(store, org)


def test_what_was_kept_of_a_mended_namespace_is_read_again(store: EmbeddedStore, org: str) -> None:
    ids = history(store, org)
    uncounted(store, org, ids)
    statistics = Statistics(store)
    assert statistics.namespace(org, NAMESPACE).documents == 1
    sweep(store, HASH, statistics)
    assert statistics.namespace(org, NAMESPACE).documents == 2


def test_an_org_of_another_model_keeps_its_embed_plane_and_is_named(store: EmbeddedStore, org: str) -> None:
    ids = history(store, org)
    unlowered(store, org, ids)
    report = sweep(store, HashedEmbedder(dimension=64))
    assert (org, NAMESPACE) in report.uncounted
    assert live_ids(store, org, "memory_embeddings") == {ids[1], ids[2]}


def test_a_missing_index_row_is_reported(store: EmbeddedStore, org: str) -> None:
    ids = history(store, org)
    before = sweep(store, HASH).missing
    change(store, "DELETE FROM loom.postings", org, ids[1])
    report = sweep(store, HASH)
    assert report.missing == before + 1
    assert not report.quiet
    with writing(store) as writer:
        write(writer, a_draft(org, "a", text="mended"))
    assert sweep(store, HASH).missing == before
