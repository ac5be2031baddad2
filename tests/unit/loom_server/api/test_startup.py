"""Starting in the background."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from loom_server.api.startup import Startup
from loom_server.errors import NotReady, StoreLocked


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
