"""Who passes beside whom, and who waits."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from loom_server.errors import DeadlineExceeded
from loom_server.model.deadline import Deadline
from loom_server.service.turnstile import Turnstile

HERE, THERE = ("acme", "here"), ("acme", "there")
LONG, AT_ONCE = 30.0, 0.0


def test_many_pass_side_by_side_and_keep_one_out_who_wants_to_be_alone() -> None:
    turnstile = Turnstile()
    with turnstile.passing(HERE, Deadline(AT_ONCE)), turnstile.passing(HERE, Deadline(AT_ONCE)):
        with pytest.raises(DeadlineExceeded), turnstile.alone(HERE, Deadline(AT_ONCE)):
            raise AssertionError("not alone")
        with turnstile.alone(THERE, Deadline(AT_ONCE)):
            pass
    with turnstile.alone(HERE, Deadline(AT_ONCE)):
        pass


def test_nobody_passes_and_nobody_else_is_alone_where_one_is() -> None:
    turnstile = Turnstile()
    with turnstile.alone(HERE, Deadline(AT_ONCE)):
        for way in (turnstile.passing, turnstile.alone):
            with pytest.raises(DeadlineExceeded), way(HERE, Deadline(AT_ONCE)):
                raise AssertionError("not alone")
        with turnstile.passing(THERE, Deadline(AT_ONCE)):
            pass
    with turnstile.passing(HERE, Deadline(AT_ONCE)):
        pass


def test_who_waits_to_be_alone_is_let_in_before_those_who_come_later() -> None:
    turnstile, order = Turnstile(), list[str]()
    closed = threading.Event()

    def change() -> None:
        with turnstile.alone(HERE, Deadline(LONG)):
            order.append("alone")

    def write() -> None:
        with turnstile.passing(HERE, Deadline(LONG)):
            order.append("later")

    with ThreadPoolExecutor(2) as threads:
        with turnstile.passing(HERE, Deadline(LONG)):
            changing = threads.submit(change)
            while not closed.wait(0.001):
                try:
                    with turnstile.passing(HERE, Deadline(AT_ONCE)):
                        pass
                except DeadlineExceeded:
                    closed.set()
            writing = threads.submit(write)
            order.append("inside")
        changing.result(LONG)
        writing.result(LONG)
    assert order == ["inside", "alone", "later"]


def test_a_block_that_raises_lets_the_next_one_in() -> None:
    turnstile = Turnstile()
    for way in (turnstile.passing, turnstile.alone):
        with pytest.raises(KeyError), way(HERE, Deadline(AT_ONCE)):
            raise KeyError
    with turnstile.alone(HERE, Deadline(AT_ONCE)):
        pass
