"""When statements are killed, and when no more; that a kill works is in the stores' conformance."""

from __future__ import annotations

import threading

from clickhouse_connect.driver.exceptions import DatabaseError

from loom_server.store.cancel import Killer


class Engine:
    """Writes down the kills; the first `failing` of them fail."""

    def __init__(self, failing: int = 0) -> None:
        self.kills: list[str] = []
        self.closed = False
        self._failing = failing
        self._changed = threading.Condition()

    def command(self, cmd: str) -> None:
        with self._changed:
            self.kills.append(cmd)
            self._changed.notify_all()
        if len(self.kills) <= self._failing:
            raise DatabaseError("no", code=1)

    def close(self) -> None:
        self.closed = True

    def wait_for(self, kills: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.kills) >= kills, timeout=30)


def killer(engine: Engine) -> Killer:
    return Killer(engine)  # pyright: ignore[reportArgumentType]


def test_a_kill_is_repeated_until_the_statement_has_ended() -> None:
    engine = Engine()
    stopping = killer(engine)
    stopping.begun("a 1")
    stopping.kill("a 1")
    engine.wait_for(3)
    stopping.ended("a 1")
    stopping.begun("b 2")
    stopping.kill("b 2")
    engine.wait_for(len(engine.kills) + 2)
    stopping.close()
    assert engine.kills[0] == "KILL QUERY WHERE Settings['log_comment'] IN ('a 1') ASYNC"
    assert engine.kills[-1] == "KILL QUERY WHERE Settings['log_comment'] IN ('b 2') ASYNC"
    assert engine.closed


def test_what_has_ended_or_never_begun_is_not_killed() -> None:
    engine = Engine()
    stopping = killer(engine)
    stopping.begun("a 1")
    stopping.ended("a 1")
    stopping.kill("a 1")
    stopping.kill("never 2")
    stopping.begun("c 3")
    stopping.kill("c 3")
    engine.wait_for(1)
    stopping.close()
    assert set(engine.kills) == {"KILL QUERY WHERE Settings['log_comment'] IN ('c 3') ASYNC"}


def test_a_kill_that_fails_is_tried_again() -> None:
    engine = Engine(failing=2)
    stopping = killer(engine)
    stopping.begun("a 1")
    stopping.kill("a 1")
    engine.wait_for(3)
    stopping.close()


def test_after_closing_nothing_is_killed() -> None:
    engine = Engine()
    stopping = killer(engine)
    stopping.close()
    stopping.begun("a 1")
    stopping.kill("a 1")
    assert engine.kills == []
