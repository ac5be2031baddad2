"""What lacks a vector of a model, and what a change of the model does to it."""

from __future__ import annotations

import numpy as np
import pytest

from loom_server.model.scope import Scope
from loom_server.store import vectors
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.vectors import Passage
from moving import NEW, OLD, models_of
from writing import NAMESPACE, a_draft, a_key, delete, settle, table, write, writing

MODEL, FORMER = NEW.identity.name, OLD.identity.name


@pytest.fixture
def scope(org: str) -> Scope:
    return Scope(org, NAMESPACE)


def written(store: EmbeddedStore, org: str) -> list[int]:
    """Two live keys, one with a version before it, and one deleted; the ids but for the tombstone's."""
    with writing(store, OLD) as writer:
        rows = write(writer, a_draft(org, "a", "first fox"), a_draft(org, "b", "a hen"), a_draft(org, "c", "a cow"))
        rows += write(writer, a_draft(org, "a", "second fox"))
        delete(writer, a_key(org, "c"))
        settle(writer)
    return [one.row_id for one in rows]


def embedded(store: EmbeddedStore, scope: Scope, ids: list[int]) -> list[Passage]:
    read = vectors.passages(store, scope, MODEL, ids)
    vectors.insert(store, scope, MODEL, read, NEW.passages([one.content for one in read]))
    return read


def test_every_version_but_a_tombstone_lacks_a_vector_of_another_model(
    store: EmbeddedStore, org: str, scope: Scope
) -> None:
    ids = written(store, org)
    assert vectors.missing(store, scope, MODEL).tolist() == sorted(ids)
    assert vectors.missing(store, scope, FORMER).tolist() == []
    assert vectors.without(np.array([1, 2, 3], dtype=np.uint64), {2}) == [1, 3]


def test_passages_tell_whose_they_are_and_which_are_live(store: EmbeddedStore, org: str, scope: Scope) -> None:
    ids = written(store, org)
    read = vectors.passages(store, scope, MODEL, ids)
    assert [(one.memory_key, one.content, one.live) for one in read] == [
        ("a", "first fox", False),
        ("b", "a hen", True),
        ("c", "a cow", False),
        ("a", "second fox", True),
    ]


def test_a_vector_goes_in_once_with_the_flag_of_its_version(store: EmbeddedStore, org: str, scope: Scope) -> None:
    ids = written(store, org)
    embedded(store, scope, ids[:2])
    embedded(store, scope, ids)
    assert vectors.missing(store, scope, MODEL).tolist() == []
    assert models_of(store, org) == {FORMER: 4, MODEL: 4}
    rows = table(store, "memory_embeddings", org, "id, live, length(vector)", "id, model")
    assert [row for row in rows if row[2] == 64] == [(ids[0], 0, 64), (ids[1], 1, 64), (ids[2], 0, 64), (ids[3], 1, 64)]


@pytest.mark.parametrize("named", [True, False])
def test_what_ended_meanwhile_is_lowered(store: EmbeddedStore, org: str, scope: Scope, named: bool) -> None:
    ids = written(store, org)
    read = vectors.passages(store, scope, MODEL, ids)
    with writing(store, OLD) as writer:
        write(writer, a_draft(org, "b", "another hen"))
    vectors.insert(store, scope, MODEL, read, NEW.passages([one.content for one in read]))
    for number in (1, 0):
        given = [one.id for one in read if one.live and number] if named else None
        assert vectors.lower_ended(store, scope, MODEL, given) == number
    live = table(store, "memory_embeddings", org, "id", "id")
    rows = table(store, "memory_embeddings", org, "id, live, length(vector)")
    assert len(live) == 9
    assert [row_id for row_id, flag, size in rows if flag and size == 64] == [ids[3]]


def test_other_models_go_and_other_tenants_stay(store: EmbeddedStore, org: str, scope: Scope) -> None:
    ids = written(store, org)
    written(store, f"{org}-other")
    embedded(store, scope, ids)
    assert [vectors.drop_others(store, scope, MODEL) for _ in range(2)] == [4, 0]
    assert models_of(store, org) == {MODEL: 4}
    assert models_of(store, f"{org}-other") == {FORMER: 4}
