"""Pauses between attempts and the pace of a client, with worked numbers."""

from __future__ import annotations

import pytest

from loom_client.retry import FIRST_GAP_S, MOST_GAP_S, Pace, RetryPolicy


@pytest.mark.parametrize(
    ("attempts", "retry_after", "chance", "pause"),
    [(1, None, 0.0, 0.0), (1, None, 0.5, 0.05), (3, None, 0.5, 0.2), (20, None, 0.5, 2.5), (1, 7.0, 0.5, 7.05)],
)
def test_a_pause_doubles_up_to_its_most_and_never_undercuts_what_is_asked(
    attempts: int, retry_after: float | None, chance: float, pause: float
) -> None:
    assert RetryPolicy(first_s=0.1, most_s=5.0).pause(attempts, retry_after, chance) == pytest.approx(pause)


def test_a_pace_that_nobody_slowed_lets_all_through() -> None:
    pace = Pace()
    assert [pace.take(0.0) for _ in range(100)] == [0.0] * 100


def test_after_a_429_nothing_goes_before_its_moment_then_one_at_a_time() -> None:
    pace = Pace()
    pace.slow_down(10.0, 3.0)
    assert pace.take(10.0) == 3.0
    assert pace.take(12.5) == 0.5
    assert pace.take(13.0) == 0.0
    assert pace.take(13.0) == pytest.approx(FIRST_GAP_S)
    assert pace.take(13.0 + FIRST_GAP_S) == 0.0


def test_a_second_429_that_asks_for_less_does_not_shorten_the_first() -> None:
    pace = Pace()
    pace.slow_down(0.0, 10.0)
    pace.slow_down(0.0, 1.0)
    assert pace.take(0.0) == 10.0


def test_a_429_without_a_time_pauses_a_second() -> None:
    pace = Pace()
    pace.slow_down(0.0, None)
    assert pace.take(0.0) == 1.0


def test_answers_bring_the_gap_back_to_nothing_step_by_step() -> None:
    pace = Pace()
    pace.slow_down(0.0, 0.0)
    gaps: list[float] = []
    now = 0.0
    for _ in range(8):
        assert pace.take(now) == 0.0
        gaps.append(pace.take(now))
        now += gaps[-1]
        pace.speed_up(now)
    assert gaps[0] == pytest.approx(0.05)
    assert gaps[1] == pytest.approx(0.05 * 2 / 3)
    assert gaps[-1] == 0.0
    assert gaps == sorted(gaps, reverse=True)


def test_the_answer_of_a_call_that_was_sent_before_the_429_does_not_speed_up() -> None:
    pace = Pace()
    pace.slow_down(5.0, 0.0)
    for _ in range(50):
        pace.speed_up(4.9)
    assert pace.take(5.0) == 0.0
    assert pace.take(5.0) == pytest.approx(FIRST_GAP_S)


def test_the_gap_has_a_most() -> None:
    pace = Pace()
    for _ in range(20):
        pace.slow_down(0.0, 0.0)
    assert pace.take(0.0) == 0.0
    assert pace.take(0.0) == MOST_GAP_S
