"""What is kept under a caller's name: in the process, in the table, for a day, for one org."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from loom_server.store import idempotency
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.idempotency import KEPT_FOR, MOST_BYTES, Answers, Kept, Name
from loom_server.store.store import Statement, Store


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.time = datetime.now(UTC)

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def name(org: str, key: str = "a", operation: str = "memory.set") -> Name:
    return Name(org, operation, key * 64)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["the same process", "another one"])
def test_what_was_kept_is_found_byte_for_byte(store: EmbeddedStore, clock: Clock, org: str, elsewhere: bool) -> None:
    answers = Answers(store, clock)
    told = '{"memory_key":"Straße 東京 \\u0000","n":1}'.encode()
    assert answers.find(name(org)) is None
    answers.keep(name(org), "r", told)
    found = (Answers(store, clock) if elsewhere else answers).find(name(org))
    at = clock.time.replace(microsecond=clock.time.microsecond // 1000 * 1000)
    assert found == Kept("r", told, at)


def test_what_was_kept_here_is_not_looked_for(store: EmbeddedStore, clock: Clock, org: str) -> None:
    answers, seen = Answers(store, clock), list[str]()
    stop = store.observe(lambda statement, *_: seen.append(statement))
    answers.keep(name(org), "r", b"1")
    assert answers.find(name(org)) is not None
    assert answers.find(name(org, "b")) is None
    stop()
    assert [one for one in seen if "idempotency" in one] == ["insert.idempotency", "idempotency.known"]


def looked_for(store: EmbeddedStore, answers: Answers, asked: Name) -> list[str]:
    """The statements of one look-up."""
    seen = list[str]()
    stop = store.observe(lambda statement, *_: seen.append(statement))
    answers.find(asked)
    stop()
    return seen


def test_only_a_name_that_may_be_there_is_looked_for(store: EmbeddedStore, clock: Clock, org: str) -> None:
    Answers(store, clock).keep(name(org), "r", b"1")
    answers = Answers(store, clock)
    assert looked_for(store, answers, name(org, "c")) == ["idempotency.known"]
    assert looked_for(store, answers, name(org, "d")) == []
    assert looked_for(store, answers, name(org, "a", "memory.delete")) == ["idempotency.find"]
    assert looked_for(store, answers, name(org)) == ["idempotency.find"]
    assert looked_for(store, answers, name(org)) == []


def test_with_too_many_names_each_is_looked_for(
    store: EmbeddedStore, clock: Clock, org: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Answers(store, clock).keep(name(org), "r", b"1")
    monkeypatch.setattr(idempotency, "MOST_KNOWN", 0)
    answers = Answers(store, clock)
    assert looked_for(store, answers, name(org, "c")) == ["idempotency.known", "idempotency.find"]
    assert looked_for(store, answers, name(org, "d")) == ["idempotency.find"]


def test_what_another_process_keeps_on_a_server_is_found(server: Store, clock: Clock, org: str) -> None:
    mine, theirs = (Answers(server, clock) for _ in range(2))
    assert mine.find(name(org)) is None
    theirs.keep(name(org), "r", b"1")
    found = mine.find(name(org))
    assert found is not None
    assert found.answer == b"1"


def test_a_name_is_of_one_org_and_one_operation(store: EmbeddedStore, clock: Clock, org: str) -> None:
    Answers(store, clock).keep(name(org), "r", b"1")
    answers = Answers(store, clock)
    assert answers.find(name(f"{org}-other")) is None
    assert answers.find(name(org, operation="memory.delete")) is None
    assert answers.find(name(org, "b")) is None
    assert answers.find(name(org)) is not None


@pytest.mark.parametrize("elsewhere", [False, True], ids=["the same process", "another one"])
def test_it_counts_for_a_day(store: EmbeddedStore, clock: Clock, org: str, elsewhere: bool) -> None:
    answers = Answers(store, clock)
    answers.keep(name(org), "r", b"1")
    clock.time += KEPT_FOR - timedelta(seconds=1)
    assert (Answers(store, clock) if elsewhere else answers).find(name(org)) is not None
    clock.time += timedelta(seconds=2)
    assert (Answers(store, clock) if elsewhere else answers).find(name(org)) is None


def test_the_first_of_two_counts(store: EmbeddedStore, clock: Clock, org: str) -> None:
    first, second = Answers(store, clock), Answers(store, clock)
    first.keep(name(org), "first", b"1")
    clock.time += timedelta(seconds=1)
    second.keep(name(org), "second", b"2")
    found = Answers(store, clock).find(name(org))
    assert found is not None
    assert (found.request, found.answer) == ("first", b"1")


@pytest.mark.parametrize(("size", "whole"), [(MOST_BYTES, True), (MOST_BYTES + 1, False)])
def test_an_answer_beyond_the_bound_is_known_and_not_kept(
    store: EmbeddedStore, clock: Clock, org: str, size: int, whole: bool
) -> None:
    answers = Answers(store, clock)
    answers.keep(name(org), "r", b"x" * size)
    for one in (answers, Answers(store, clock)):
        found = one.find(name(org))
        assert found is not None
        assert (found.request, found.answer is not None) == ("r", whole)


def test_the_engine_is_to_drop_what_is_old(store: EmbeddedStore) -> None:
    sql = "SELECT create_table_query AS made FROM system.tables WHERE database = 'loom' AND name = 'idempotency'"
    made = str(store.query(Statement("test", sql)).column("made")[0])
    assert "TTL toDateTime(at) + toIntervalDay(1)" in made
    assert timedelta(days=1) == KEPT_FOR
