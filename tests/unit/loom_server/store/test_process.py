"""Processes that share a store have numbers and row ids of their own, and the fallen are found."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from loom_server.model.clock import IDS_PER_MICROSECOND, RowIds
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.process import Process, fallen, swept
from writing import SetClock


@pytest.fixture
def joined(store: EmbeddedStore) -> Iterator[list[Process]]:
    """Five that joined at once."""
    with ThreadPoolExecutor(5) as threads:
        processes = list(threads.map(lambda _: Process.join(store, SetClock(), 30.0), range(5)))
    yield processes
    for process in processes:
        process.close()


def numbers(processes: list[Process]) -> set[int]:
    return {process.membership.number for process in processes if process.membership is not None}


def test_no_two_have_one_number(joined: list[Process]) -> None:
    assert len(numbers(joined)) == 5


def test_ids_of_one_moment_differ_and_tell_who_made_them(joined: list[Process]) -> None:
    made = [(process, process.ids.next()) for process in joined for _ in range(100)]
    assert len({one for _, one in made}) == 500
    for process, one in made:
        assert process.membership is not None
        assert one % IDS_PER_MICROSECOND == process.membership.number % IDS_PER_MICROSECOND


def test_who_left_is_not_among_the_fallen(store: EmbeddedStore, joined: list[Process]) -> None:
    *others, first = joined
    first.close()
    first.close()
    found = {one.number for one in fallen(store, gone_s=0.0)}
    assert numbers(others) <= found
    assert not numbers([first]) & found


def test_whoever_was_seen_lately_is_not_fallen(store: EmbeddedStore, joined: list[Process]) -> None:
    assert not numbers(joined) & {one.number for one in fallen(store)}


def test_what_was_swept_is_not_swept_again(store: EmbeddedStore, joined: list[Process]) -> None:
    (one,) = (one for one in fallen(store, gone_s=0.0) if one.number == min(numbers(joined)))
    swept(store, one)
    assert one.number not in {other.number for other in fallen(store, gone_s=0.0)}


def test_tagged_ids_rise_above_the_floor() -> None:
    clock = SetClock()
    micros = int(clock.now().timestamp() * 1_000_000)
    ids = RowIds(clock, floor=5 * IDS_PER_MICROSECOND + 3, tag=7)
    assert [ids.next(), ids.next()] == [micros * 1024 + 7, (micros + 1) * 1024 + 7]
    ahead = RowIds(clock, floor=(micros + 9) * 1024 + 1000, tag=7)
    assert ahead.next() == (micros + 10) * 1024 + 7
