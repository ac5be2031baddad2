"""Starting in the background."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from loom_server.api.startup import Startup
from loom_server.errors import NotReady, StoreLocked
from loom_server.observe.stages import Stages


class Parts:
    """Something that is opened and closed."""

    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


def test_there_are_no_services_until_they_are_built() -> None:
    go, parts = threading.Event(), Parts()

    def build() -> Any:
        assert go.wait(10)
        return parts

    startup = Startup(build, lambda: pytest.fail("it did not fail"))
    startup.begin()
    assert startup.current() is None
    go.set()
    startup.end()
    assert startup.current() is parts
    assert parts.closed


def test_it_tells_how_far_it_is_and_keeps_that_when_it_is_to_stop() -> None:
    inside, go, stages = threading.Event(), threading.Event(), Stages()

    def build() -> Any:
        with stages.during("store"):
            pass
        with stages.during("migrate"):
            inside.set()
            assert go.wait(10)
        return Parts()

    startup = Startup(build, lambda: pytest.fail("it did not fail"), stages)
    startup.begin()
    assert inside.wait(10)
    told, error = startup.progress()
    assert (told.status, told.stage, list(told.ms), error) == ("starting", "migrate", ["store"], None)
    assert told.stage_ms is not None
    go.set()
    startup.end()
    startup.stop()
    told, error = startup.progress()
    assert (told.status, told.stage, list(told.ms), error) == ("started", None, ["store", "migrate"], None)
    with pytest.raises(NotReady, match="is stopping"):
        startup.current()


def test_a_start_that_failed_names_its_stage() -> None:
    stages = Stages()

    def build() -> Any:
        with stages.during("store"):
            raise StoreLocked("Process 12 owns it.")

    startup = Startup(build, lambda: None, stages)
    startup.begin()
    startup.end()
    told, error = startup.progress()
    assert (told.status, told.stage, told.ms) == ("failed", "store", {})
    assert error is startup.error


@pytest.mark.parametrize(
    ("error", "told"), [(StoreLocked("Process 12 owns it."), StoreLocked), (RuntimeError("secret"), NotReady)]
)
def test_what_stops_the_start_is_told(error: Exception, told: type[Exception]) -> None:
    failed = threading.Event()

    def build() -> Any:
        raise error

    startup = Startup(build, failed.set)
    startup.begin()
    startup.end()
    assert failed.is_set()
    assert startup.error is error
    with pytest.raises(told) as raised:
        startup.current()
    assert "secret" not in str(raised.value)
