"""The engine's codes to ours, and nothing of the engine's text in what is told or logged."""

from __future__ import annotations

import logging

import pytest
from clickhouse_connect.driver.exceptions import DatabaseError, StreamFailureError

from loom_server.errors import Cancelled, DeadlineExceeded, LoomError, ResourceExhausted, StatementFailed
from loom_server.store.failures import failure


@pytest.mark.parametrize(
    ("code", "raised"),
    [
        (159, DeadlineExceeded),
        (160, DeadlineExceeded),
        (158, ResourceExhausted),
        (241, ResourceExhausted),
        (307, ResourceExhausted),
        (243, ResourceExhausted),
        (394, Cancelled),
        (47, StatementFailed),
        (None, StatementFailed),
    ],
)
def test_a_code_has_its_error(code: int | None, raised: type[LoomError]) -> None:
    error = failure("leg.fact", DatabaseError("SELECT 'secret'", code=code))
    assert type(error) is raised
    assert "leg.fact" in error.message
    assert "SELECT" not in error.message


def test_an_unknown_refusal_tells_code_and_name() -> None:
    told = failure("x", StreamFailureError("text", code=60, name="UNKNOWN_TABLE")).message
    assert told == "The engine refused statement x (code 60, UNKNOWN_TABLE)."
    assert failure("x", DatabaseError("text")).message == "The engine refused statement x (code unknown)."


@pytest.mark.parametrize(
    "error",
    [
        DatabaseError("Cannot reserve 1.00 MiB, not enough space", code=243),
        DatabaseError("Cannot write to file, errno: 28, strerror: No space left on device", code=75),
    ],
)
def test_a_full_disk_is_called_that(error: DatabaseError) -> None:
    told = failure("insert.memory", error)
    assert type(told) is ResourceExhausted
    assert told.message == "Statement insert.memory found the disk of the data directory full; free some space there."


def test_the_log_holds_the_reason_without_the_engines_text(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="loom.store"):
        failure("x", DatabaseError("Cannot parse a secret as UInt64", code=72, name="CANNOT_PARSE_NUMBER"))
    assert caplog.messages == ["statement x failed: code 72, CANNOT_PARSE_NUMBER"]
