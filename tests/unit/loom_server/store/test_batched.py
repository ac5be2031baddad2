"""Many callers, one run: who waits while a batch is worked on is in the next one."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from loom_server.store.batched import Batched


def test_one_who_comes_alone_is_a_batch() -> None:
    batches: list[list[int]] = []

    def run(items: Sequence[int]) -> list[int]:
        batches.append(list(items))
        return [item * 10 for item in items]

    batched = Batched(run)
    assert [batched(1), batched(2)] == [10, 20]
    assert batches == [[1], [2]]


def test_those_who_come_meanwhile_are_the_next_batch() -> None:
    batches: list[list[int]] = []
    inside, go = threading.Event(), threading.Event()

    def run(items: Sequence[int]) -> list[int]:
        batches.append(sorted(items))
        inside.set()
        assert go.wait(10)
        return [item * 10 for item in items]

    batched = Batched(run)
    with ThreadPoolExecutor(10) as executor:
        first = executor.submit(batched, 0)
        assert inside.wait(10)
        others = [executor.submit(batched, number) for number in range(1, 9)]
        while len(vars(batched)["_waiting"]) < 8:
            pass
        go.set()
        assert [one.result(10) for one in (first, *others)] == [number * 10 for number in range(9)]
    assert batches == [[0], [1, 2, 3, 4, 5, 6, 7, 8]]


def test_after_company_one_waits_for_as_much_again() -> None:
    batches: list[list[int]] = []
    inside, go = threading.Event(), threading.Event()

    def run(items: Sequence[int]) -> list[int]:
        batches.append(sorted(items))
        inside.set()
        assert go.wait(10)
        return list(items)

    batched = Batched(run, linger_s=60.0)
    with ThreadPoolExecutor(4) as executor:
        first = executor.submit(batched, 0)
        assert inside.wait(10)
        two = [executor.submit(batched, number) for number in (1, 2)]
        while len(vars(batched)["_waiting"]) < 2:
            pass
        go.set()
        assert [one.result(10) for one in (first, *two)] == [0, 1, 2]
        early = executor.submit(batched, 3)
        while not vars(batched)["_waiting"]:
            pass
        assert not early.done()
        assert executor.submit(batched, 4).result(10) == 4
        assert early.result(10) == 3
    assert batches == [[0], [1, 2], [3, 4]]


def test_a_failure_is_told_to_each_of_its_batch_and_to_nobody_else() -> None:
    inside, go = threading.Event(), threading.Event()

    def run(items: Sequence[int]) -> list[int]:
        inside.set()
        assert go.wait(10)
        if any(item < 0 for item in items):
            raise ValueError("below zero")
        return list(items)

    batched = Batched(run)
    with ThreadPoolExecutor(4) as executor:
        first = executor.submit(batched, 1)
        assert inside.wait(10)
        broken = [executor.submit(batched, number) for number in (-1, 2)]
        while len(vars(batched)["_waiting"]) < 2:
            pass
        go.set()
        assert first.result(10) == 1
        for one in broken:
            with pytest.raises(ValueError, match="below zero"):
                one.result(10)
    assert batched(3) == 3


def test_a_run_that_forgets_an_item_fails() -> None:
    batched = Batched(lambda items: [])
    with pytest.raises(ValueError, match="zip"):
        batched(1)
