"""Moments as the engine reads them, whatever the machine's zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from loom_server.store.parameters import bound


def test_moments_travel_in_utc_and_the_rest_as_it_is() -> None:
    there = datetime(2024, 1, 1, 1, 30, 0, 250000, tzinfo=timezone(timedelta(hours=2)))
    assert bound({"at": there, "text": "a", "list": [1], "none": None}) == {
        "at": "2023-12-31 23:30:00.250000",
        "text": "a",
        "list": [1],
        "none": None,
    }


def test_early_years_keep_four_digits() -> None:
    assert bound({"at": datetime(1950, 1, 2, tzinfo=UTC)}) == {"at": "1950-01-02 00:00:00.000000"}


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a zone"):
        bound({"at": datetime(2024, 1, 1)})
