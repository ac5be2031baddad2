"""Steps run side by side, and all of them end before an error leaves."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from loom_server.store.together import together


def test_answers_come_in_the_order_of_the_steps() -> None:
    with ThreadPoolExecutor(2) as executor:
        assert together(executor, [lambda: 1, lambda: 2, lambda: 3]) == [1, 2, 3]
        assert together(executor, []) == []


def test_steps_run_at_the_same_time() -> None:
    meeting = threading.Barrier(3, timeout=30)
    with ThreadPoolExecutor(2) as executor:
        assert sorted(together(executor, [meeting.wait] * 3)) == [0, 1, 2]


@pytest.mark.parametrize("failing", [0, 1])
def test_the_first_error_leaves_when_every_step_has_ended(failing: int) -> None:
    go, ended = threading.Event(), threading.Event()

    def slow() -> None:
        assert go.wait(30)
        ended.set()

    def fails() -> None:
        go.set()
        raise KeyError("torn")

    with ThreadPoolExecutor(2) as executor, pytest.raises(KeyError):
        together(executor, [fails, slow] if failing == 0 else [slow, fails])
    assert ended.is_set()
