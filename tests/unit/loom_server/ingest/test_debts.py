"""Debts are paid together, in time, and rebuilt where a payment failed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from loom_server.errors import StoreUnavailable
from loom_server.ingest.debts import SETTLE_S, Debts
from loom_server.model.clock import ids_in
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.rollups import LAG_S, Tokenizer
from loom_server.store.statistics import FACT, CommitDelta, Statistics
from statements import counted
from writing import HASH, NAMESPACE, FailingStore, a_draft, roll_ups_of, sound, write, writing

FIRST = ids_in(1_000_000.0)


@pytest.fixture
def failing(store: EmbeddedStore) -> FailingStore:
    return FailingStore(store)


@pytest.fixture
def debts(failing: FailingStore) -> Iterator[Debts]:
    with ThreadPoolExecutor(2) as executor:
        yield Debts(failing, Statistics(failing), Tokenizer(HASH.identity.name, HASH.tokens), executor)


def a_delta(org: str, word: str, number: int = 1) -> CommitDelta:
    return CommitDelta(org, NAMESPACE, FACT, number, number, {word: number}, {word: number})


def test_groups_are_paid_with_one_insert_a_table(store: EmbeddedStore, debts: Debts, org: str) -> None:
    assert debts.due is None
    before = time.monotonic()
    for word in ("red", "red", "fox"):
        debts.add(FIRST, [a_delta(org, word)], [])
    assert debts.due is not None
    assert before + SETTLE_S <= debts.due <= time.monotonic() + SETTLE_S
    with counted(store) as statements:
        debts.pay()
    assert statements == {"insert.token_df": 1, "insert.corpus_stats": 1}
    assert debts.due is None
    assert roll_ups_of(store, org) == (
        [(NAMESPACE, FACT, "fox", 1, 1), (NAMESPACE, FACT, "red", 2, 2)],
        [(NAMESPACE, FACT, 3, 3)],
    )


def test_what_cancels_out_costs_nothing(store: EmbeddedStore, debts: Debts, org: str) -> None:
    debts.add(FIRST, [a_delta(org, "red")], [])
    debts.add(FIRST, [a_delta(org, "red").negated()], [])
    with counted(store) as statements:
        debts.pay()
        debts.pay()
    assert not statements


def test_no_commit_finds_something_owed_for_too_long(store: EmbeddedStore, debts: Debts, org: str) -> None:
    debts.add(FIRST, [a_delta(org, "red")], [])
    debts.before(FIRST + ids_in(LAG_S) // 2)
    assert roll_ups_of(store, org) == ([], [])
    debts.before(FIRST + ids_in(LAG_S) // 2 + 1)
    assert roll_ups_of(store, org)[1] == [(NAMESPACE, FACT, 1, 1)]
    assert debts.due is None


def test_a_payment_that_failed_is_made_good_by_a_rebuild(
    store: EmbeddedStore, failing: FailingStore, debts: Debts, org: str
) -> None:
    with writing(store) as writer:
        write(writer, a_draft(org))
    debts.add(FIRST, [a_delta(org, "never stored")], [])
    failing.broken, failing.after = {"insert.token_df"}, True
    with pytest.raises(StoreUnavailable):
        debts.pay()
    assert not sound(store, org)
    assert debts.due is not None
    failing.broken = set()
    debts.pay()
    assert sound(store, org)


def test_a_doubt_alone_is_due_too(store: EmbeddedStore, debts: Debts, org: str) -> None:
    debts.doubt([(org, NAMESPACE)], FIRST)
    assert debts.due is not None
    with counted(store) as statements:
        debts.pay()
    assert "rollups.fact_tokens" in statements
    assert debts.due is None
