"""The store is shared with other tests, so each step is held to what it changes."""

from __future__ import annotations

from loom_client import wire
from loom_server.keep.terms import check_terms
from loom_server.model.deadline import Deadline
from loom_server.service.services import Services
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.store import Statement

ALL = 1_000_000


def deadline() -> Deadline:
    return Deadline(60)


def shift(store: EmbeddedStore, org: str, by: str) -> None:
    sql = f"UPDATE loom.postings SET tf = tf {by} WHERE org = {{org:String}} AND token = 'pool'"
    store.command(Statement("test.shift", sql, {"org": org}))


def test_a_row_whose_stored_terms_are_not_the_analyzers_is_counted(
    store: EmbeddedStore, services: Services, org: str
) -> None:
    before = check_terms(store, ALL)
    for key, value in {"one": "The pool is full.", "two": "Nothing of it."}.items():
        answer = services.set_many(
            wire.MemorySetManyRequest(org=org, items=[wire.MemoryItem(memory_key=key, value=value)]), deadline()
        )
        assert answer.written == 1
    whole = check_terms(store, ALL)
    assert (whole.looked_at - before.looked_at, whole.differing - before.differing) == (2, 0)
    shift(store, org, "+ 1")
    try:
        shifted = check_terms(store, ALL)
    finally:
        shift(store, org, "- 1")
    assert (shifted.looked_at, shifted.differing) == (whole.looked_at, whole.differing + 1)
    assert check_terms(store, ALL) == whole


def test_a_language_of_the_namespace_is_heeded(store: EmbeddedStore, services: Services, org: str) -> None:
    before = check_terms(store, ALL)
    services.namespace_set(wire.NamespaceSetRequest(org=org, namespace="de", language="de"), deadline())
    request = wire.MemorySetRequest(org=org, namespace="de", memory_key="k", value="Die Häuser sind voll.")
    services.set(request, deadline())
    after = check_terms(store, ALL)
    assert (after.looked_at - before.looked_at, after.differing - before.differing) == (1, 0)


def test_no_more_rows_than_the_sample_are_looked_at(store: EmbeddedStore, services: Services, org: str) -> None:
    services.set(wire.MemorySetRequest(org=org, memory_key="k", value="v"), deadline())
    assert check_terms(store, 1).looked_at == 1
