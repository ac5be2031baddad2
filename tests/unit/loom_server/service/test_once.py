"""A named write is done once: its repeats wait, are answered the same, or are refused."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from loom_server.errors import Cancelled, Conflict, DeadlineExceeded, StoreUnavailable
from loom_server.model.clock import SystemClock
from loom_server.model.deadline import Deadline
from loom_server.service.once import Asked, Done, Once
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.idempotency import MOST_BYTES, Answers, Name
from loom_server.store.passing import PassingStore
from loom_server.store.store import Insert


def asked(org: str, request: str = "r", key: str = "a") -> Asked:
    return Asked(Name(org, "memory.set", key * 64), request)


@dataclass
class Work:
    """Something that is counted as often as it is done."""

    times: int = 0
    final: bool = True
    error: Exception | None = None

    def __call__(self) -> Done:
        self.times += 1
        if self.error is not None:
            raise self.error
        return Done(b'{"time":%d}' % self.times, self.final)


@pytest.fixture
def once(store: EmbeddedStore) -> Once:
    return Once(Answers(store, SystemClock()))


def test_the_same_is_done_once(store: EmbeddedStore, once: Once, org: str) -> None:
    work = Work()
    for one in (once, once, Once(Answers(store, SystemClock()))):
        assert one.answer(asked(org), work, Deadline(10)) == b'{"time":1}'
    assert work.times == 1
    assert once.answer(asked(org, key="b"), work, Deadline(10)) == b'{"time":2}'


def test_another_request_is_a_conflict(once: Once, org: str) -> None:
    work = Work()
    once.answer(asked(org), work, Deadline(10))
    with pytest.raises(Conflict, match=r"^Idempotency-Key: names another memory.set of this org; take a new key"):
        once.answer(asked(org, "another"), work, Deadline(10))
    assert work.times == 1


@pytest.mark.parametrize("work", [Work(error=StoreUnavailable("down")), Work(error=Conflict("lost"))])
def test_what_failed_is_done_again(once: Once, org: str, work: Work) -> None:
    for _ in range(2):
        with pytest.raises((StoreUnavailable, Conflict)):
            once.answer(asked(org), work, Deadline(10))
    work.error = None
    assert once.answer(asked(org), work, Deadline(10)) == b'{"time":3}'
    assert once.answer(asked(org), work, Deadline(10)) == b'{"time":3}'


def test_what_is_worth_trying_again_is_not_kept(once: Once, org: str) -> None:
    work = Work(final=False)
    assert once.answer(asked(org), work, Deadline(10)) == b'{"time":1}'
    assert once.answer(asked(org), work, Deadline(10)) == b'{"time":2}'


def test_an_answer_too_large_to_keep_is_not_done_again(once: Once, org: str) -> None:
    answer = b"x" * (MOST_BYTES + 1)
    assert once.answer(asked(org), lambda: Done(answer), Deadline(10)) == answer
    with pytest.raises(Conflict, match="the call was done, and its answer was too large to be kept"):
        once.answer(asked(org), Work(), Deadline(10))


class Holding:
    """Work that waits to be let go."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.times = 0

    def __call__(self) -> Done:
        self.times += 1
        self.begun.set()
        assert self.go.wait(30)
        return Done(b'{"time":%d}' % self.times)


def test_a_repeat_waits_for_the_first_and_another_request_does_not(once: Once, org: str) -> None:
    work = Holding()
    with ThreadPoolExecutor(4) as executor:
        first = executor.submit(once.answer, asked(org), work, Deadline(30))
        assert work.begun.wait(10)
        repeats = [executor.submit(once.answer, asked(org), work, Deadline(30)) for _ in range(2)]
        with pytest.raises(Conflict):
            once.answer(asked(org, "another"), work, Deadline(30))
        with pytest.raises(DeadlineExceeded, match="The first call with this Idempotency-Key still runs"):
            once.answer(asked(org), work, Deadline(0.05))
        assert not any(one.done() for one in (first, *repeats))
        work.go.set()
        assert {one.result(10) for one in (first, *repeats)} == {b'{"time":1}'}
    assert work.times == 1


def test_a_caller_who_hangs_up_waits_no_longer(once: Once, org: str) -> None:
    work, deadline = Holding(), Deadline(30)
    with ThreadPoolExecutor(2) as executor:
        first = executor.submit(once.answer, asked(org), work, Deadline(30))
        assert work.begun.wait(10)
        repeat = executor.submit(once.answer, asked(org), work, deadline)
        deadline.cancel()
        with pytest.raises(Cancelled):
            repeat.result(10)
        work.go.set()
        assert first.result(10) == b'{"time":1}'


def test_after_a_first_that_failed_the_next_one_does_it(once: Once, org: str) -> None:
    begun, go = threading.Event(), threading.Event()

    def failing() -> Done:
        begun.set()
        assert go.wait(30)
        raise StoreUnavailable("down")

    work = Work()
    with ThreadPoolExecutor(2) as executor:
        first = executor.submit(once.answer, asked(org), failing, Deadline(30))
        assert begun.wait(10)
        repeat = executor.submit(once.answer, asked(org), work, Deadline(30))
        go.set()
        with pytest.raises(StoreUnavailable):
            first.result(10)
        assert repeat.result(10) == b'{"time":1}'


class Unwritable(PassingStore):
    """A store that takes no row."""

    def insert(self, insert: Insert) -> None:
        raise StoreUnavailable("The disk is gone.")


def test_what_cannot_be_kept_is_answered_and_known_to_the_process_alone(store: EmbeddedStore, org: str) -> None:
    work, once = Work(), Once(Answers(Unwritable(store), SystemClock()))
    assert once.answer(asked(org), work, Deadline(10)) == b'{"time":1}'
    assert once.answer(asked(org), work, Deadline(10)) == b'{"time":1}'
    assert Once(Answers(store, SystemClock())).answer(asked(org), work, Deadline(10)) == b'{"time":2}'
