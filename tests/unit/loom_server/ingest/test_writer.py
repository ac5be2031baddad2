"""The queue and its thread, over a ledger of paper that can be held and broken."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from loom_server.errors import Cancelled, DeadlineExceeded, NotReady, StoreUnavailable
from loom_server.ingest import writer as module
from loom_server.ingest.judge import Judgement
from loom_server.ingest.request import Removal, Request
from loom_server.ingest.writer import GroupWriter, await_answers
from loom_server.model.deadline import Deadline
from loom_server.model.memory import WriteOutcome
from writing import a_key

LONG = 30.0


def requests(*names: str) -> list[Request]:
    return [Removal(a_key("acme", name)) for name in names]


@dataclass(slots=True)
class Paper:
    """Writes the groups down. `gate` holds a commit; `fail` and `stuck` are how often to fail."""

    groups: list[list[str]] = field(default_factory=list[list[str]])
    righted: list[Judgement] = field(default_factory=list[Judgement])
    settled: int = 0
    owes_since: float | None = None
    fail: int = 0
    stuck: int = 0
    gate: threading.Event = field(default_factory=threading.Event)
    begun: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    @property
    def due(self) -> float | None:
        return self.owes_since

    def judge(self, requests: Sequence[Request]) -> Judgement:
        names = [request.key.memory_key for request in requests]
        answers = tuple(WriteOutcome(1, index, name, "live") for index, name in enumerate(names))
        self.groups.append(names)
        return Judgement(answers, (), (), datetime(2026, 3, 1, tzinfo=UTC))

    def commit(self, judgement: Judgement) -> None:
        self.begun.release()
        assert self.gate.wait(LONG)
        if self.fail:
            self.fail -= 1
            raise StoreUnavailable("torn")
        self.owes_since = time.monotonic()

    def put_right(self, judgement: Judgement) -> None:
        if self.stuck:
            self.stuck -= 1
            raise StoreUnavailable("still torn")
        self.righted.append(judgement)

    def settle(self) -> None:
        self.settled += 1
        self.owes_since = None


@pytest.fixture
def paper() -> Paper:
    return Paper()


@pytest.fixture
def writer(paper: Paper) -> Iterator[GroupWriter]:
    opened = GroupWriter(paper, most_rows=4)
    yield opened
    paper.gate.set()
    opened.close()


def answered(writer: GroupWriter, *names: str, seconds: float = LONG) -> list[str]:
    deadline = Deadline(seconds)
    answers = await_answers(writer.submit(requests(*names), deadline), deadline)
    return [answer.content_sha256 for answer in answers if isinstance(answer, WriteOutcome)]


def held(writer: GroupWriter, paper: Paper) -> None:
    """Let the writer begin a group that does not end."""
    writer.submit(requests("held"), Deadline(LONG))
    assert paper.begun.acquire(timeout=LONG)


def test_each_ticket_gets_its_own_answers(writer: GroupWriter, paper: Paper) -> None:
    held(writer, paper)
    first = writer.submit(requests("a", "b"), Deadline(LONG))
    second = writer.submit(requests("c"), Deadline(LONG))
    paper.gate.set()
    names = [[answer.content_sha256 for answer in await_answers(one, Deadline(LONG))] for one in (first, second)]  # type: ignore[union-attr]
    assert names == [["a", "b"], ["c"]]
    assert paper.groups == [["held"], ["a", "b", "c"]]


def test_a_group_holds_whole_tickets_in_order_up_to_its_size(writer: GroupWriter, paper: Paper) -> None:
    held(writer, paper)
    with ThreadPoolExecutor(3) as threads:
        tickets = [writer.submit(requests("a", "b"), Deadline(LONG)), writer.submit(requests("c"), Deadline(LONG))]
        late = threads.submit(writer.submit, requests("d", "e"), Deadline(LONG))
        paper.gate.set()
        for ticket in (*tickets, late.result(LONG)):
            await_answers(ticket, Deadline(LONG))
    assert paper.groups == [["held"], ["a", "b", "c"], ["d", "e"]]


def test_a_ticket_larger_than_a_group_is_a_group_of_its_own(writer: GroupWriter, paper: Paper) -> None:
    paper.gate.set()
    assert answered(writer, *"abcdef") == list("abcdef")


def test_postings_bound_a_group_too(writer: GroupWriter, paper: Paper) -> None:
    held(writer, paper)
    heavy = [Removal(a_key("acme", "heavy"), module.MOST_POSTINGS)]
    tickets = [writer.submit(requests("a"), Deadline(LONG))]
    with ThreadPoolExecutor(1) as threads:
        late = threads.submit(writer.submit, heavy, Deadline(LONG))
        paper.gate.set()
        for ticket in (*tickets, late.result(LONG)):
            await_answers(ticket, Deadline(LONG))
    assert paper.groups == [["held"], ["a"], ["heavy"]]


def test_a_full_queue_makes_a_caller_wait_for_no_longer_than_it_may(writer: GroupWriter, paper: Paper) -> None:
    held(writer, paper)
    writer.submit(requests(*"abcd"), Deadline(LONG))
    with pytest.raises(DeadlineExceeded):
        writer.submit(requests("e"), Deadline(0.05))
    gone = Deadline(LONG)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(writer.submit, requests("f"), gone)
        gone.cancel()
        with pytest.raises(Cancelled):
            waiting.result(LONG)
    paper.gate.set()
    answered(writer, "g")
    assert paper.groups == [["held"], ["a", "b", "c", "d"], ["g"]]


def test_a_caller_that_gave_up_before_its_turn_is_not_written(writer: GroupWriter, paper: Paper) -> None:
    held(writer, paper)
    with pytest.raises(DeadlineExceeded, match="nothing was written"):
        answered(writer, "late", seconds=0.05)
    gone = Deadline(LONG)
    promise = writer.submit(requests("gone"), gone)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(await_answers, promise, gone)
        gone.cancel()
        with pytest.raises(Cancelled):
            waiting.result(LONG)
    paper.gate.set()
    answered(writer, "next")
    assert paper.groups == [["held"], ["next"]]


def test_a_caller_whose_time_ends_during_its_group_is_told_that_it_may_be_in(writer: GroupWriter, paper: Paper) -> None:
    deadline = Deadline(0.3)
    promise = writer.submit(requests("a"), deadline)
    assert paper.begun.acquire(timeout=LONG)
    with pytest.raises(DeadlineExceeded, match="read the key"):
        await_answers(promise, deadline)


def test_a_failed_group_is_put_right_before_its_callers_hear_and_the_next_goes_on(
    writer: GroupWriter, paper: Paper
) -> None:
    paper.fail = 1
    paper.gate.set()
    with pytest.raises(StoreUnavailable, match="torn"):
        answered(writer, "a")
    assert len(paper.righted) == 1
    assert answered(writer, "b") == ["b"]


def test_what_cannot_be_put_right_is_tried_again(
    writer: GroupWriter, paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_S", 0.0)
    paper.fail, paper.stuck = 1, 2
    paper.gate.set()
    with pytest.raises(StoreUnavailable, match=r"^torn"):
        answered(writer, "a")
    assert answered(writer, "b") == ["b"]
    writer.between(lambda: None, Deadline(LONG))
    assert (len(paper.righted), paper.stuck) == (1, 0)


def test_a_ledger_that_raises_anything_does_not_end_the_writer(writer: GroupWriter, paper: Paper) -> None:
    paper.gate.set()
    promise = writer.submit([Removal(None)], Deadline(LONG))  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        await_answers(promise, Deadline(LONG))
    assert answered(writer, "b") == ["b"]


def test_what_is_owed_is_settled_in_a_quiet_moment(writer: GroupWriter, paper: Paper) -> None:
    paper.gate.set()
    answered(writer, "a")
    end = time.monotonic() + LONG
    while not paper.settled and time.monotonic() < end:
        time.sleep(0.01)
    assert paper.settled
    assert paper.owes_since is None


def test_work_between_groups_finds_nothing_owed_and_answers(writer: GroupWriter, paper: Paper) -> None:
    paper.gate.set()
    answered(writer, "a")
    assert writer.between(lambda: paper.owes_since, Deadline(LONG)) is None
    with pytest.raises(KeyError):
        writer.between(lambda: {}["missing"], Deadline(LONG))
    assert answered(writer, "b") == ["b"]


def test_close_writes_what_waits_settles_and_refuses_what_comes(paper: Paper) -> None:
    writer = GroupWriter(paper, most_rows=4)
    held(writer, paper)
    waiting = writer.submit(requests("a"), Deadline(LONG))
    closing = threading.Thread(target=writer.close)
    closing.start()
    paper.gate.set()
    closing.join(LONG)
    assert not closing.is_alive()
    assert len(await_answers(waiting, Deadline(LONG))) == 1
    assert paper.owes_since is None
    with pytest.raises(NotReady):
        writer.submit(requests("b"), Deadline(LONG))
    with pytest.raises(NotReady):
        writer.between(lambda: None, Deadline(LONG))
