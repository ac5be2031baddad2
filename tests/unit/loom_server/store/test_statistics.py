"""What is kept equals what is stored, whoever writes or reads meanwhile."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from loom_server.errors import DeadlineExceeded
from loom_server.model.deadline import Deadline
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.statistics import (
    EMBED,
    FACT,
    LONGEST_LOCK_WAIT_S,
    TOKENS_OF_AN_EMPTY_NAMESPACE,
    CommitDelta,
    Statistics,
    roll_ups,
)
from loom_server.store.store import Columns, Statement
from statements import counted

NAMESPACE = "notes"
LOAD, TOKENS = "statistics.load", "statistics.tokens"


def fact(org: str, *texts: str, namespace: str = NAMESPACE) -> CommitDelta:
    """The change that these texts make to plane 'fact', by words."""
    words = [text.split() for text in texts]
    cf = Counter(word for one in words for word in one)
    df = Counter(word for one in words for word in set(one))
    return CommitDelta(org, namespace, FACT, len(texts), sum(map(len, words)), df, cf)


def embed(org: str, counts: Mapping[str, int], namespace: str = NAMESPACE) -> CommitDelta:
    """The change of one text to plane 'embed'."""
    return CommitDelta(org, namespace, EMBED, 1, sum(counts.values()), dict.fromkeys(counts, 1), counts)


def write(store: EmbeddedStore, statistics: Statistics, *deltas: CommitDelta) -> None:
    """What a writer does."""
    with statistics.changing(deltas):
        for insert in roll_ups(deltas):
            store.insert(insert)


def pay(store: EmbeddedStore, statistics: Statistics, due: bool = True) -> None:
    """What a writer does later, where it owes."""
    if due:
        with statistics.paying() as owed:
            for insert in roll_ups(owed):
                store.insert(insert)


@pytest.fixture
def statistics(store: EmbeddedStore) -> Statistics:
    return Statistics(store)


def test_worked_numbers(store: EmbeddedStore, statistics: Statistics, org: str) -> None:
    write(store, statistics, fact(org, "red fox", "red red hen"), embed(org, {"r": 3, "f": 1}))
    seen = statistics.namespace(org, NAMESPACE)
    assert (seen.documents, seen.average_length, seen.total_tokens) == (2, 2.5, 4)
    assert seen.document_frequencies(["red", "fox", "cow"]) == {"red": 2, "fox": 1, "cow": 0}
    assert seen.token_counts(["r", "f", "c"]) == {"r": 3, "f": 1, "c": 0}


def test_roll_ups_are_the_same_change_as_rows(org: str) -> None:
    tokens, corpus = roll_ups([fact(org, "a a b"), embed(org, {"x": 2}).negated()])
    assert sorted(zip(*tokens.data, strict=True)) == [
        (org, NAMESPACE, "embed", "x", -1, -2),
        (org, NAMESPACE, "fact", "a", 1, 2),
        (org, NAMESPACE, "fact", "b", 1, 1),
    ]
    assert sorted(zip(*corpus.data, strict=True)) == [(org, NAMESPACE, "embed", -1, -2), (org, NAMESPACE, "fact", 1, 3)]
    assert [len(insert) for insert in roll_ups([])] == [0, 0]


def test_an_empty_namespace_is_asked_once(store: EmbeddedStore, statistics: Statistics, org: str) -> None:
    with counted(store) as names:
        for _ in range(3):
            seen = statistics.namespace(org, NAMESPACE)
            assert (seen.documents, seen.average_length, seen.total_tokens) == (0, 0.0, 0)
            assert seen.document_frequencies(["a"]) == {"a": 0}
            assert seen.token_counts(["a"]) == {"a": 0}
    assert names == {LOAD: 1}


def test_a_whole_vocabulary_answers_without_statements(store: EmbeddedStore, statistics: Statistics, org: str) -> None:
    write(store, statistics, fact(org, "red fox"))
    statistics.namespace(org, NAMESPACE)
    with counted(store) as names:
        seen = statistics.namespace(org, NAMESPACE)
        assert seen.document_frequencies(["red", "never seen"]) == {"red": 1, "never seen": 0}
    assert names == {}


@pytest.mark.parametrize("whole_vocabulary", [50_000, 1])
def test_a_row_counts_in_the_very_next_search(store: EmbeddedStore, org: str, whole_vocabulary: int) -> None:
    statistics = Statistics(store, whole_vocabulary=whole_vocabulary)
    write(store, statistics, fact(org, "red fox", "hen"), embed(org, {"r": 1, "x": 5}))
    before = statistics.namespace(org, NAMESPACE)
    before.document_frequencies(["red"])
    version = before.version
    write(store, statistics, fact(org, "red cow cow cow"), embed(org, {"r": 2}))
    with counted(store) as names:
        after = statistics.namespace(org, NAMESPACE)
        assert (after.documents, after.average_length, after.total_tokens) == (3, 7 / 3, 8)
        assert after.document_frequencies(["red"]) == {"red": 2}
    assert names == {}
    assert after.version > version
    assert after.document_frequencies(["red", "cow", "hen"]) == {"red": 2, "cow": 1, "hen": 1}
    assert after.token_counts(["r", "x"]) == {"r": 3, "x": 5}


def test_a_retired_row_counts_no_more(store: EmbeddedStore, statistics: Statistics, org: str) -> None:
    write(store, statistics, fact(org, "red fox"), fact(org, "red hen"))
    statistics.namespace(org, NAMESPACE)
    write(store, statistics, fact(org, "red hen").negated())
    for seen in (statistics.namespace(org, NAMESPACE), Statistics(store).namespace(org, NAMESPACE)):
        assert (seen.documents, seen.average_length) == (1, 2.0)
        assert seen.document_frequencies(["red", "hen"]) == {"red": 1, "hen": 0}


def test_a_large_vocabulary_is_asked_by_token_once_each(store: EmbeddedStore, org: str) -> None:
    statistics = Statistics(store, whole_vocabulary=2)
    write(store, statistics, fact(org, "a b c"), embed(org, {"x": 2, "y": 1, "z": 1}))
    with counted(store) as names:
        seen = statistics.namespace(org, NAMESPACE)
        assert (seen.documents, seen.total_tokens) == (1, 4)
        assert seen.document_frequencies(["a", "zz", "a"]) == {"a": 1, "zz": 0}
        assert seen.document_frequencies(["zz", "a"]) == {"a": 1, "zz": 0}
        assert seen.document_frequencies(["b", "a"]) == {"a": 1, "b": 1}
        assert seen.token_counts(["x", "a"]) == {"x": 2, "a": 0}
    assert names == {LOAD: 1, TOKENS: 3}


@pytest.mark.parametrize(("words", "pieces", "statements"), [(4, 4, 0), (5, 4, 1), (4, 5, 1), (5, 5, 2)])
def test_each_plane_s_vocabulary_is_kept_whole_where_it_fits(
    store: EmbeddedStore, org: str, words: int, pieces: int, statements: int
) -> None:
    statistics = Statistics(store, whole_vocabulary=4)
    text = " ".join(f"w{number}" for number in range(words))
    write(store, statistics, fact(org, text), embed(org, {f"p{number}": 1 for number in range(pieces)}))
    seen = statistics.namespace(org, NAMESPACE)
    with counted(store) as names:
        assert seen.document_frequencies(["w0", "x"]) == {"w0": 1, "x": 0}
        assert seen.token_counts(["p0", "x"]) == {"p0": 1, "x": 0}
    assert names[TOKENS] == statements


def test_a_vocabulary_of_many_blocks_is_seen_to_be_large(store: EmbeddedStore, org: str) -> None:
    statistics = Statistics(store)
    write(store, statistics, fact(org, " ".join(f"w{i}" for i in range(150_000))))
    seen = statistics.namespace(org, NAMESPACE)
    with counted(store) as names:
        assert seen.document_frequencies(["w149999", "none"]) == {"w149999": 1, "none": 0}
    assert names == {TOKENS: 1}
    assert seen.average_length == 150_000.0


def test_a_failed_write_is_forgotten_and_read_again(store: EmbeddedStore, statistics: Statistics, org: str) -> None:
    write(store, statistics, fact(org, "red"))
    statistics.namespace(org, NAMESPACE)
    with pytest.raises(KeyError), statistics.changing([fact(org, "hen")]):
        store.insert(roll_ups([fact(org, "hen")])[0])
        raise KeyError
    seen = statistics.namespace(org, NAMESPACE)
    assert seen.document_frequencies(["red", "hen"]) == {"red": 1, "hen": 1}


def test_orgs_and_namespaces_do_not_mix(store: EmbeddedStore, statistics: Statistics, org: str) -> None:
    write(store, statistics, fact(org, "red"), fact(org, "red hen", namespace="other"), fact(f"{org}-b", "cow"))
    assert statistics.namespace(org, "other").document_frequencies(["red", "cow"]) == {"red": 1, "cow": 0}
    assert statistics.namespace(f"{org}-b", NAMESPACE).documents == 1
    assert statistics.namespace(org, NAMESPACE).average_length == 1.0


def test_the_longest_unused_namespace_goes_first(store: EmbeddedStore, org: str) -> None:
    statistics = Statistics(store, kept_tokens=3 * TOKENS_OF_AN_EMPTY_NAMESPACE + 2)
    for namespace in ("a", "b", "c"):
        statistics.namespace(org, namespace)
    statistics.namespace(org, "a")
    write(store, statistics, *(fact(org, f"{namespace} 1 2", namespace=namespace) for namespace in ("a", "c")))
    with counted(store) as names:
        assert statistics.namespace(org, "a").documents == 1
        assert statistics.namespace(org, "c").documents == 1
    assert names == {}
    with counted(store) as names:
        statistics.namespace(org, "b")
    assert names == {LOAD: 1}


def test_empty_namespaces_are_bounded_too(store: EmbeddedStore, org: str) -> None:
    statistics = Statistics(store, kept_tokens=2 * TOKENS_OF_AN_EMPTY_NAMESPACE)
    for number in range(4):
        statistics.namespace(org, f"n{number}")
    with counted(store) as names:
        statistics.namespace(org, "n3")
        statistics.namespace(org, "n2")
        statistics.namespace(org, "n0")
    assert names == {LOAD: 1}


def test_one_namespace_beyond_the_bound_is_kept_all_the_same(store: EmbeddedStore, org: str) -> None:
    statistics = Statistics(store, kept_tokens=1)
    statistics.namespace(org, NAMESPACE)
    with counted(store) as names:
        statistics.namespace(org, NAMESPACE)
    assert names == {}


def test_beside_other_processes_what_is_kept_has_an_age(store: EmbeddedStore, org: str) -> None:
    now = [100.0]
    mine = Statistics(store, max_age_s=1.0, monotonic=lambda: now[0])
    theirs = Statistics(store)
    first = mine.namespace(org, NAMESPACE)
    write(store, theirs, fact(org, "red"))
    now[0] += 0.9
    assert mine.namespace(org, NAMESPACE).documents == 0
    now[0] += 0.2
    second = mine.namespace(org, NAMESPACE)
    assert second.document_frequencies(["red"]) == {"red": 1}
    assert second.version > first.version


def test_forgetting_all_reads_again(store: EmbeddedStore, statistics: Statistics, org: str) -> None:
    statistics.namespace(org, NAMESPACE)
    for insert in roll_ups([fact(org, "red")]):
        store.insert(insert)
    statistics.forget()
    assert statistics.namespace(org, NAMESPACE).documents == 1


def test_many_first_searches_at_once_read_once(store: EmbeddedStore, statistics: Statistics, org: str) -> None:
    with counted(store) as names, ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda _: statistics.namespace(org, NAMESPACE), range(6)))
    assert names == {LOAD: 1}


def test_a_deadline_reaches_the_statement(store: EmbeddedStore, org: str) -> None:
    statistics = Statistics(store, whole_vocabulary=0)
    write(store, statistics, fact(org, "red"))
    with pytest.raises(DeadlineExceeded):
        statistics.namespace(org, NAMESPACE, Deadline(0.0))
    seen = statistics.namespace(org, NAMESPACE, Deadline(60.0))
    assert seen.document_frequencies(["red"]) == {"red": 1}


class Held:
    """The store, whose statistics statements wait until they are let go."""

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store
        self.arrived = threading.Event()
        self.go = threading.Event()

    def query(self, statement: Statement, deadline: Deadline | None = None) -> Columns:
        self.arrived.set()
        assert self.go.wait(30)
        return self._store.query(statement, deadline)

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)


def test_a_write_during_a_read_is_counted_once(store: EmbeddedStore, org: str) -> None:
    held = Held(store)
    statistics = Statistics(held)  # pyright: ignore[reportArgumentType]
    with ThreadPoolExecutor(2) as threads:
        reading = threads.submit(statistics.namespace, org, NAMESPACE)
        assert held.arrived.wait(30)
        writing = threads.submit(write, store, statistics, fact(org, "red"))
        held.go.set()
        reading.result(30)
        writing.result(30)
    assert statistics.namespace(org, NAMESPACE).documents == 1


def test_a_read_during_a_write_is_right_and_not_kept(store: EmbeddedStore, statistics: Statistics, org: str) -> None:
    delta = fact(org, "red")
    with statistics.changing([delta]):
        for insert in roll_ups([delta]):
            store.insert(insert)
        with ThreadPoolExecutor(1) as threads:
            assert threads.submit(statistics.namespace, org, NAMESPACE).result(30).documents == 1
    assert statistics.namespace(org, NAMESPACE).documents == 1


@pytest.mark.parametrize("whole_vocabulary", [50_000, 1])
@pytest.mark.parametrize("touched", [False, True], ids=["read_after", "kept_before"])
def test_what_is_owed_counts_at_once_and_once(
    store: EmbeddedStore, org: str, whole_vocabulary: int, touched: bool
) -> None:
    statistics = Statistics(store, whole_vocabulary=whole_vocabulary)
    write(store, statistics, fact(org, "red fox"), embed(org, {"r": 1}))
    if touched:
        statistics.namespace(org, NAMESPACE).document_frequencies(["red", "hen"])
    statistics.owe([fact(org, "red hen"), embed(org, {"r": 2, "h": 1})])
    statistics.owe([fact(org, "red").negated()])
    for paid in (False, True):
        if paid:
            pay(store, statistics)
        seen = statistics.namespace(org, NAMESPACE)
        assert (seen.documents, seen.total_tokens) == (1, 4)
        assert seen.document_frequencies(["red", "fox", "hen"]) == {"red": 1, "fox": 1, "hen": 1}
        assert seen.token_counts(["r", "h"]) == {"r": 3, "h": 1}
        statistics.forget()


def test_paying_hands_out_everything_that_is_owed_once(store: EmbeddedStore, statistics: Statistics, org: str) -> None:
    deltas = [fact(org, "red"), fact(org, "fox", namespace="other"), fact(org, "hen")]
    for delta in deltas:
        statistics.owe([delta])
    with statistics.paying() as owed:
        assert sorted(owed, key=deltas.index) == deltas
    with statistics.paying() as owed:
        assert owed == ()


def test_a_payment_that_fails_is_owed_no_more_and_what_was_kept_is_read_again(
    store: EmbeddedStore, statistics: Statistics, org: str
) -> None:
    statistics.namespace(org, NAMESPACE)
    statistics.owe([fact(org, "red")])
    with pytest.raises(KeyError), statistics.paying():
        raise KeyError("torn")
    assert statistics.namespace(org, NAMESPACE).documents == 0
    with statistics.paying() as owed:
        assert owed == ()


@contextmanager
def slow_payment(store: EmbeddedStore, statistics: Statistics) -> Iterator[threading.Event]:
    """A payment whose roll-ups are in, and which ends when the event is set, at the latest with the block."""
    paid, go = threading.Event(), threading.Event()

    def pay_slowly() -> None:
        with statistics.paying() as owed:
            for insert in roll_ups(owed):
                store.insert(insert)
            paid.set()
            assert go.wait(30)

    with ThreadPoolExecutor(1) as threads:
        paying = threads.submit(pay_slowly)
        try:
            assert paid.wait(30)
            yield go
        finally:
            go.set()
        paying.result(30)


@pytest.mark.parametrize("whole_vocabulary", [50_000, 1])
def test_a_read_during_a_payment_counts_what_is_paid_once(
    store: EmbeddedStore, org: str, whole_vocabulary: int
) -> None:
    statistics = Statistics(store, whole_vocabulary=whole_vocabulary)
    write(store, statistics, fact(org, "red fox", "hen"))
    statistics.owe([fact(org, "red cow"), fact(org, "hen").negated()])

    def read() -> tuple[int, Mapping[str, int]]:
        seen = statistics.namespace(org, NAMESPACE, Deadline(60.0))
        return seen.documents, seen.document_frequencies(["red", "hen"])

    with ThreadPoolExecutor(1) as threads, slow_payment(store, statistics) as go:
        reading = threads.submit(read)
        with pytest.raises(TimeoutError):
            reading.result(2 * LONGEST_LOCK_WAIT_S)
        go.set()
        assert reading.result(30) == (2, {"red": 2, "hen": 0})
    assert read() == (2, {"red": 2, "hen": 0})


def test_a_read_waits_for_a_payment_no_longer_than_it_may(
    store: EmbeddedStore, statistics: Statistics, org: str
) -> None:
    statistics.owe([fact(org, "red")])
    with slow_payment(store, statistics), pytest.raises(DeadlineExceeded):
        statistics.namespace(org, NAMESPACE, Deadline(LONGEST_LOCK_WAIT_S / 4))


def test_what_is_waived_is_not_owed(statistics: Statistics, org: str) -> None:
    statistics.owe([fact(org, "red"), fact(org, "fox", namespace="other")])
    statistics.waive([(org, NAMESPACE), (org, "never")])
    with statistics.paying() as owed:
        assert [delta.namespace for delta in owed] == ["other"]


@contextmanager
def readers(statistics: Statistics, org: str, vocabulary: Sequence[str]) -> Iterator[None]:
    """Searches that never stop asking, with namespaces forgotten now and then."""
    stop = threading.Event()

    def read(seed: int) -> None:
        dice = random.Random(seed)
        while not stop.is_set():
            seen = statistics.namespace(org, dice.choice(["a", "b"]), Deadline(30.0))
            seen.document_frequencies(dice.sample(vocabulary, 3))
            if dice.random() < 0.05:
                statistics.forget([(org, "a")])

    with ThreadPoolExecutor(3) as threads:
        running = [threads.submit(read, seed) for seed in range(3)]
        try:
            yield
        finally:
            stop.set()
        for one in running:
            one.result(30)


@pytest.mark.parametrize("owing", [False, True], ids=["at_once", "owed"])
@pytest.mark.parametrize("whole_vocabulary", [50_000, 2])
def test_after_a_storm_what_is_kept_equals_what_is_stored(
    store: EmbeddedStore, org: str, whole_vocabulary: int, owing: bool
) -> None:
    statistics = Statistics(store, whole_vocabulary=whole_vocabulary)
    dice = random.Random(7)
    vocabulary = [f"w{number}" for number in range(12)]
    alive: list[CommitDelta] = []
    with readers(statistics, org, vocabulary):
        for _ in range(40):
            text = " ".join(dice.choices(vocabulary, k=4))
            alive.append(fact(org, text, namespace=dice.choice(["a", "b"])))
            changes = [alive[-1], embed(org, {text[:2]: 1}, namespace=alive[-1].namespace)]
            if len(alive) > 10 and dice.random() < 0.5:
                changes.append(alive.pop(dice.randrange(len(alive))).negated())
            if owing:
                statistics.owe(changes)
                pay(store, statistics, dice.random() < 0.2)
            else:
                write(store, statistics, *changes)
    pay(store, statistics)
    for namespace in ("a", "b"):
        kept, stored = statistics.namespace(org, namespace), Statistics(store).namespace(org, namespace)
        rows = [delta for delta in alive if delta.namespace == namespace]
        truth = {word: sum(delta.df.get(word, 0) for delta in rows) for word in vocabulary}
        assert kept.document_frequencies(vocabulary) == stored.document_frequencies(vocabulary) == truth
        assert kept.documents == stored.documents == len(rows)
        assert kept.average_length == stored.average_length
        assert kept.total_tokens == stored.total_tokens
