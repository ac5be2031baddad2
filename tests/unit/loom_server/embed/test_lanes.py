"""Lanes: how many run at once, who goes first, and what becomes of work that nobody waits for."""

from __future__ import annotations

import threading
from concurrent.futures import Future, wait

import pytest

from loom_server.embed import lanes as module
from loom_server.embed.lanes import Lanes, abandon


class Held:
    """Work that goes on when it is told to, and remembers what ran."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.go = threading.Event()
        self.ran: list[str] = []
        self.running = 0
        self.most = 0
        self.lock = threading.Lock()

    def work(self, name: str) -> str:
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
            self.ran.append(name)
        self.begun.release()
        assert self.go.wait(10)
        with self.lock:
            self.running -= 1
        return name


@pytest.fixture
def held() -> Held:
    return Held()


def submitted(lanes: Lanes[str], held: Held, names: str, urgent: bool = False) -> list[Future[str]]:
    return [lanes.submit(urgent, lambda name=name: held.work(name)) for name in names]


def test_no_more_than_its_size_run_at_once(held: Held) -> None:
    lanes = Lanes[str](3, "test")
    futures = submitted(lanes, held, "abcdefgh")
    for _ in range(3):
        assert held.begun.acquire(timeout=10)
    held.go.set()
    assert [future.result(10) for future in futures] == list("abcdefgh")
    assert held.most == 3


def test_what_is_urgent_goes_first_and_each_lane_keeps_its_order(held: Held) -> None:
    lanes = Lanes[str](1, "test")
    futures = submitted(lanes, held, "a")
    assert held.begun.acquire(timeout=10)
    futures += submitted(lanes, held, "bc") + submitted(lanes, held, "XY", urgent=True)
    held.go.set()
    wait(futures, 10)
    assert held.ran == ["a", "X", "Y", "b", "c"]


def test_what_is_abandoned_before_its_turn_is_not_run(held: Held) -> None:
    lanes = Lanes[str](1, "test")
    first, second, third = submitted(lanes, held, "abc")
    assert held.begun.acquire(timeout=10)
    abandon([first, second], TimeoutError("over"))
    held.go.set()
    assert third.result(10) == "c"
    assert held.ran == ["a", "c"]
    for future in (first, second):
        with pytest.raises(TimeoutError, match="over"):
            future.result()


def test_an_error_is_told_and_the_thread_lives_on() -> None:
    lanes = Lanes[float](1, "test")
    with pytest.raises(ZeroDivisionError):
        lanes.submit(False, lambda: 1 / 0).result(10)
    assert lanes.submit(False, lambda: 1 / 2).result(10) == 0.5


def test_idle_threads_end_and_others_take_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IDLE_S", 0.01)
    lanes = Lanes[threading.Thread](1, "test")
    first = lanes.submit(False, threading.current_thread).result(10)
    first.join(10)
    assert not first.is_alive()
    assert lanes.submit(False, threading.current_thread).result(10) is not first
