"""The stages of a start."""

from __future__ import annotations

import pytest

from loom_server.observe.stages import Stages


def test_a_stage_runs_and_then_is_done() -> None:
    stages = Stages()
    assert (stages.running, stages.done) == (None, {})
    with stages.during("store"):
        running = stages.running
        assert running is not None
        assert (running[0], stages.done) == ("store", {})
    with stages.during("migrate"):
        assert list(stages.done) == ["store"]
    assert stages.running is None
    assert list(stages.done) == ["store", "migrate"]
    assert all(took >= 0.0 for took in stages.done.values())


def test_a_stage_that_fails_stays_the_one_that_runs() -> None:
    stages = Stages()
    with pytest.raises(ValueError, match="broken"), stages.during("store"):
        raise ValueError("broken")
    running = stages.running
    assert running is not None
    assert (running[0], stages.done) == ("store", {})
