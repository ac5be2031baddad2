"""The breaker: it opens after failures in a row, lets one through each pause, and closes by one success."""

from __future__ import annotations

import pytest

from loom_server.embed.breaker import FAILURES, PAUSE_S, Breaker


class Clock:
    """A time that only the test moves."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(clock)


def fail(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        breaker.failed()


def test_it_opens_at_its_number_of_failures(breaker: Breaker) -> None:
    assert not any(breaker.failed() for _ in range(FAILURES - 1))
    assert (breaker.wait(), breaker.open, breaker.trying) == (0.0, False, False)
    assert breaker.failed()
    assert (breaker.wait(), breaker.open) == (PAUSE_S, True)
    assert not breaker.failed()
    assert breaker.failures == FAILURES + 1


def test_only_failures_in_a_row_count(breaker: Breaker) -> None:
    for _ in range(3):
        fail(breaker, FAILURES - 1)
        breaker.succeeded()
    assert breaker.wait() == 0.0


def test_one_is_let_through_each_pause(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, FAILURES)
    clock.now += PAUSE_S - 1.0
    assert breaker.wait() == 1.0
    clock.now += 1.0
    assert [breaker.wait(), breaker.wait()] == [0.0, PAUSE_S]
    assert breaker.trying
    breaker.failed()
    clock.now += PAUSE_S - 1.0
    assert breaker.wait() == 1.0


def test_a_try_that_never_tells_blocks_for_one_pause(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, FAILURES)
    clock.now += PAUSE_S
    assert breaker.wait() == 0.0
    clock.now += PAUSE_S
    assert breaker.wait() == 0.0


def test_one_success_closes_it(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, FAILURES)
    clock.now += PAUSE_S
    assert breaker.wait() == 0.0
    assert breaker.succeeded()
    assert not breaker.succeeded()
    assert [breaker.wait() for _ in range(3)] == [0.0] * 3
    assert not breaker.open
