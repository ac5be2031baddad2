"""The one writer: everything that waits is committed as one group, in the order of its arrival.

A caller puts a ticket (some requests) into the queue and waits for its answers. The writer's thread
takes all tickets that wait, up to `most_rows` requests and `MOST_POSTINGS` postings, and commits them
together: eight callers cost little more than one. Those who were just answered mostly write again at
once, so the thread waits up to `LINGER_S` for as many as there were; otherwise the callers would fall
into two groups that take turns. One who writes alone is never kept waiting.

The queue holds as much as a group; beyond that a caller waits for room within its deadline, and a
ticket whose caller gave up before its turn is not written.

What groups owe (`debts.py`) is settled when it is due, after a group's answers or in a quiet moment.

A group that fails is told to each of its callers once it is put right, and the writer lives on. What
cannot be put right or settled, since the store fails again, is tried again before later groups, and
at last by the sweep at the next start, which an unclean close asks for.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from itertools import islice
from threading import Condition, Lock, Thread
from typing import Protocol, TypeVar

from loom_server.errors import Cancelled, DeadlineExceeded, NotReady
from loom_server.ingest.judge import Answer, Judgement
from loom_server.ingest.request import Request
from loom_server.model.deadline import Deadline

T = TypeVar("T")
MOST_POSTINGS = 400_000
"""Postings of one group; they go into the engine as one block, which is one part or none."""
LINGER_S = 0.004
RETRY_S = 1.0
"""Between two tries to settle or to put right."""


class Ledger(Protocol):
    """Where groups are judged and written; called by the writer's thread alone."""

    def judge(self, requests: Sequence[Request]) -> Judgement:
        """Decide what is to be written."""
        ...

    def commit(self, judgement: Judgement) -> None:
        """Write it."""
        ...

    def put_right(self, judgement: Judgement) -> None:
        """Undo or finish what a failed `commit` left."""
        ...

    def settle(self) -> None:
        """Pay what commits owe."""
        ...

    @property
    def due(self) -> float | None:
        """When to settle, in monotonic seconds; None where nothing is owed."""
        ...


@dataclass(frozen=True, slots=True)
class Ticket:
    """Requests in the queue and the promise of their answers; or, without requests, some work of its own."""

    requests: tuple[Request, ...]
    answers: Future[tuple[Answer, ...]]
    postings: int = 0
    work: Callable[[], None] | None = None


def tell_nobody(requests: int) -> None:
    """Where nobody counts groups."""


class GroupWriter:
    """The queue and its thread. `committed` is told the number of requests of each group that was committed."""

    def __init__(self, ledger: Ledger, most_rows: int) -> None:
        self.committed: Callable[[int], None] = tell_nobody
        self._ledger = ledger
        self._most_rows = most_rows
        self._queue: deque[Ticket] = deque()
        self._rows = self._postings = 0
        self._served = 0
        self._wanted = 1
        lock = Lock()
        self._arrived, self._room = Condition(lock), Condition(lock)
        self._closing = False
        self._failed: list[Judgement] = []
        self._retry_at = 0.0
        self._thread = Thread(target=self._run, name="loom-writer", daemon=True)
        self._thread.start()

    @property
    def queued(self) -> int:
        """Requests that wait for their group."""
        return self._rows

    def submit(self, requests: Sequence[Request], deadline: Deadline) -> Future[tuple[Answer, ...]]:
        """Queue the requests.

        Raises `DeadlineExceeded` or `Cancelled` where no room comes free in time, `NotReady` after `close`.
        """
        ticket = Ticket(tuple(requests), Future(), sum(request.weight for request in requests))
        self._enter(ticket, deadline)
        return ticket.answers

    def between(self, work: Callable[[], T], deadline: Deadline) -> T:
        """Do `work` in the writer's thread while no group is written and nothing is owed; answer with its result."""
        results: list[T] = []
        ticket = Ticket((), Future(), work=lambda: results.append(work()))
        self._enter(ticket, deadline)
        await_answers(ticket.answers, deadline)
        return results[0]

    def close(self) -> bool:
        """Write what waits, settle, refuse what comes, and end the thread; answers whether nothing is left to do."""
        with self._room:
            self._closing = True
            self._arrived.notify()
            self._room.notify_all()
        self._thread.join()
        return not self._failed and self._ledger.due is None

    def _enter(self, ticket: Ticket, deadline: Deadline) -> None:
        deadline.check()
        unregister = deadline.on_cancel(self._wake)
        try:
            with self._room:
                while not self._closing and not self._has_room(ticket):
                    self._room.wait(deadline.left())
                    deadline.check()
                if self._closing:
                    raise NotReady("The service is stopping; write again when it runs.")
                self._queue.append(ticket)
                self._count(ticket, 1)
                # Not for each: the writer's thread would take the interpreter from those who still prepare.
                if len(self._queue) >= self._wanted:
                    self._arrived.notify()
        finally:
            unregister()

    def _has_room(self, ticket: Ticket) -> bool:
        return not self._queue or self._fits(self._rows + len(ticket.requests), self._postings + ticket.postings)

    def _fits(self, rows: int, postings: int) -> bool:
        return rows <= self._most_rows and postings <= MOST_POSTINGS

    def _count(self, ticket: Ticket, sign: int) -> None:
        self._rows += sign * len(ticket.requests)
        self._postings += sign * ticket.postings

    def _wake(self) -> None:
        with self._room:
            self._room.notify_all()

    def _run(self) -> None:
        while (tickets := self._take()) is not None:
            if tickets and tickets[0].work is not None:
                self._work(tickets[0], tickets[0].work)
            elif tickets:
                self._write(tickets)
            if self._waiting_time() == 0.0:
                self._try_to_settle()
        self._try_to_settle()

    def _waiting_time(self) -> float | None:
        """Seconds until there is something to settle or to put right; None where there is not."""
        due = 0.0 if self._failed else self._ledger.due
        return None if due is None else max(0.0, max(due, self._retry_at) - time.monotonic())

    def _take(self) -> list[Ticket] | None:
        """The next group, without those who no longer wait; empty when something is due, None at the end."""
        with self._arrived:
            company = len(self._queue) + self._served
            while not self._queue:
                if self._closing:
                    return None
                if not self._arrived.wait(self._waiting_time()):
                    return []
            self._wanted = company
            self._arrived.wait_for(lambda: len(self._queue) >= company or self._closing, LINGER_S)
            self._wanted = 1
            taken = [self._pop()]
            rows, postings = len(taken[0].requests), taken[0].postings
            while taken[0].work is None and self._queue and self._queue[0].work is None:
                rows, postings = rows + len(self._queue[0].requests), postings + self._queue[0].postings
                if not self._fits(rows, postings):
                    break
                taken.append(self._pop())
            self._served = len(taken)
            self._room.notify_all()
        return [ticket for ticket in taken if ticket.answers.set_running_or_notify_cancel()]

    def _pop(self) -> Ticket:
        ticket = self._queue.popleft()
        self._count(ticket, -1)
        return ticket

    def _work(self, ticket: Ticket, work: Callable[[], None]) -> None:
        try:
            self._settle()
            work()
        except Exception as error:  # the caller of the work hears of it
            ticket.answers.set_exception(error)
        else:
            ticket.answers.set_result(())

    def _write(self, tickets: Sequence[Ticket]) -> None:
        requests = [request for ticket in tickets for request in ticket.requests]
        judgement: Judgement | None = None
        try:
            self._put_right()
            judgement = self._ledger.judge(requests)
            self._ledger.commit(judgement)
        except Exception as error:  # whatever it was, each caller hears of it and the writer lives on
            if judgement is not None:
                self._failed.append(judgement)
                self._try_to_settle()
            for ticket in tickets:
                ticket.answers.set_exception(error)
        else:
            self.committed(len(requests))
            answers = iter(judgement.answers)
            for ticket in tickets:
                ticket.answers.set_result(tuple(islice(answers, len(ticket.requests))))

    def _try_to_settle(self) -> None:
        try:
            self._settle()
        except Exception:  # whatever it was, it is tried again
            self._retry_at = time.monotonic() + RETRY_S

    def _settle(self) -> None:
        self._put_right()
        self._ledger.settle()

    def _put_right(self) -> None:
        """Nothing is written over a failed group: a rebuild of roll-ups would count what it left."""
        while self._failed:
            self._ledger.put_right(self._failed[0])
            self._failed.pop(0)


def await_answers(answers: Future[T], deadline: Deadline) -> T:
    """Wait for a ticket. Raises `DeadlineExceeded` or `Cancelled`, after taking the ticket back where that can be."""

    def take_back() -> None:
        answers.cancel()

    unregister = deadline.on_cancel(take_back)
    try:
        return answers.result(deadline.left())
    except CancelledError:
        raise Cancelled("The caller went away before the write began; nothing was written.") from None
    except TimeoutError:
        if answers.cancel():
            raise DeadlineExceeded("The time given was used up in the queue; nothing was written.") from None
        raise DeadlineExceeded(
            "The time given was used up while writing; read the key to see whether it is in."
        ) from None
    finally:
        unregister()
