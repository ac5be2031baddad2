"""Lending without an engine: the pool knows of a client only that it can be closed."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from loom_server.errors import Cancelled, DeadlineExceeded, ResourceExhausted, StoreUnavailable
from loom_server.model.deadline import Deadline
from loom_server.store.client import Client
from loom_server.store.pool import Pool


class Closable:
    """The least of a client."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def pool_of(number: int, longest_wait_s: float = 30.0) -> tuple[Pool, list[Client]]:
    clients: list[Client] = [Closable() for _ in range(number)]  # pyright: ignore[reportAssignmentType]
    return Pool(clients, longest_wait_s), clients


def test_the_last_one_back_goes_out_first() -> None:
    pool, _ = pool_of(3)
    with pool.lend(None) as first, pool.lend(None) as second:
        pass
    with pool.lend(None) as again:
        assert again is first
        assert again is not second


def test_no_client_is_lent_twice_at_once() -> None:
    pool, clients = pool_of(3)
    held: set[int] = set()
    guard = threading.Lock()

    def borrow(_: int) -> bool:
        with pool.lend(Deadline(60.0)) as client:
            with guard:
                alone = id(client) not in held
                held.add(id(client))
            time.sleep(0.0001)
            with guard:
                held.discard(id(client))
        return alone

    with ThreadPoolExecutor(12) as threads:
        assert all(threads.map(borrow, range(500)))
    assert len(clients) == 3


def test_waiting_ends_with_the_deadline() -> None:
    pool, _ = pool_of(1)
    with pool.lend(None), pytest.raises(DeadlineExceeded), pool.lend(Deadline(0.02)):
        pass


def test_waiting_ends_when_the_caller_goes_away() -> None:
    pool, _ = pool_of(1)
    deadline = Deadline(300.0)
    with pool.lend(None):
        timer = threading.Timer(0.02, deadline.cancel)
        timer.start()
        with pytest.raises(Cancelled), pool.lend(deadline):
            pass
        timer.join()


def test_waiting_without_a_deadline_ends_too() -> None:
    pool, _ = pool_of(1, longest_wait_s=0.02)
    with pool.lend(None), pytest.raises(ResourceExhausted, match="LOOM_STORE_CLIENTS"), pool.lend(None):
        pass


def test_a_free_client_goes_out_even_at_the_end_of_the_time() -> None:
    pool, _ = pool_of(1)
    with pool.lend(Deadline(0.0)):
        pass


def test_an_error_in_the_block_gives_the_client_back() -> None:
    pool, _ = pool_of(1, longest_wait_s=0.02)
    with pytest.raises(KeyError), pool.lend(None):
        raise KeyError
    with pool.lend(None):
        pass


def test_closing_waits_for_loans_and_refuses_those_who_wait() -> None:
    pool, clients = pool_of(1)
    started = threading.Event()

    def wait_for_one() -> None:
        started.set()
        with pool.lend(None):
            pass

    with ThreadPoolExecutor(2) as threads:
        with pool.lend(None):
            waiting = threads.submit(wait_for_one)
            started.wait()
            closing = threads.submit(pool.close)
            assert isinstance(waiting.exception(timeout=30), StoreUnavailable)
            assert not closing.done()
        closing.result(timeout=30)
    assert [client.closed for client in clients] == [1]  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(StoreUnavailable, match="closed"), pool.lend(None):
        pass
