"""The log: one format for all, exceptions without their text, and hashes that only a key repeats."""

from __future__ import annotations

import json
import logging
import sys
from hashlib import blake2b

import pytest
import structlog

from journal import logging_as
from loom_server.model.candidate import LegResult
from loom_server.observe import logs
from loom_server.observe.seen import SearchSeen, WriteSeen

SECRET = "s3cret-that-nobody-may-read"
SEARCH = SearchSeen(
    "acme", "design", "rrf", "abstained", 0.0123456, (LegResult("fact", "ok", (4, 5), milliseconds=3.14159),), 9, 2,
    "no_match", ("bm25: embed_error",), 0.4,
)  # fmt: skip
HASHER = logs.Hasher("key")


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_search_is_one_event(capsys: pytest.CaptureFixture[str]) -> None:
    with logging_as("json", "info"), structlog.contextvars.bound_contextvars(request_id="r-1"):
        logs.searched(SEARCH, HASHER)
    (told,) = lines(capsys)
    assert told.pop("timestamp").endswith("Z")
    assert told == {
        "level": "info", "logger": "loom.search", "event": "search", "request_id": "r-1",
        "org": HASHER.org("acme"), "namespace": HASHER.namespace("acme", "design"), "mode": "rrf",
        "outcome": "abstained", "legs": {"fact": {"state": "ok", "ms": 3.14, "count": 2}}, "pool": 9, "served": 2,
        "abstain": "no_match", "degraded": ["bm25: embed_error"], "error": None, "duration_ms": 12.35,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "level", "logged"),
    [
        ("written", "info", True),
        ("written", "warning", False),
        ("refused", "warning", False),
        ("cancelled", "warning", False),
        ("failed", "warning", True),
        ("deadline", "warning", True),
        ("failed", "error", False),
    ],
)
def test_trouble_is_a_warning(
    outcome: str, level: logs.LogLevel, logged: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with logging_as("json", level):
        logs.wrote(WriteSeen("o", "n", "memory.set", outcome, 0.1, 1), HASHER)
    assert [one["outcome"] for one in lines(capsys)] == ([outcome] if logged else [])


def test_a_refused_call_is_told_at_debug_alone(capsys: pytest.CaptureFixture[str]) -> None:
    for level in ("info", "debug"):
        with logging_as("json", level):
            logs.refused("http", "memory.set", 422, "invalid_input", "r-1")
    (told,) = lines(capsys)
    assert (told["event"], told["level"], told["status"], told["code"]) == ("refused", "debug", 422, "invalid_input")


def test_the_libraries_of_this_project_and_others_share_one_format(capsys: pytest.CaptureFixture[str]) -> None:
    with logging_as("json", "debug"):
        logging.getLogger("loom.store").debug("statement %s failed", "leg.fact")
        logging.getLogger("uvicorn.error").warning("Broken: %s", SECRET)
        logging.getLogger("uvicorn.error").info("Started")
        logging.getLogger("asyncio").error(f"Task was destroyed\nfuture: {SECRET}")
    told = lines(capsys)
    assert [(one["logger"], one["level"], one["event"]) for one in told] == [
        ("loom.store", "debug", "statement leg.fact failed"),
        ("uvicorn.error", "warning", "Broken: %s"),
        ("asyncio", "error", "Task was destroyed"),
    ]


@pytest.mark.parametrize("log_format", ["json", "console"])
@pytest.mark.parametrize("logger", ["uvicorn.error", "loom.store", "structlog"])
def test_an_exception_is_its_kind_and_its_lines(
    logger: str, log_format: logs.LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(value: str) -> None:
        raise ValueError(value)

    with logging_as(log_format, "info"):
        try:
            fails(SECRET)
        except ValueError:
            own = structlog.get_logger("loom.x") if logger == "structlog" else logging.getLogger(logger)
            own.exception("it broke")
    told = capsys.readouterr().err
    assert "it broke" in told
    assert "ValueError" in told
    assert "raise ValueError(value)" in told
    assert SECRET not in told


def test_a_console_is_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    with logging_as("console", "info"):
        logs.lifecycle("ready", address="http://127.0.0.1:1")
    told = capsys.readouterr().err
    assert "[info     ] ready" in told
    assert "\x1b" not in told


def test_auto_is_json_where_stderr_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with logging_as("auto", "info"):
        logs.lifecycle("stopped")
    assert lines(capsys)[0]["event"] == "stopped"


def test_a_stderr_that_is_closed_fails_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    closed = (tmp_path / "log").open("w")
    closed.close()
    with logging_as("json", "info"):
        monkeypatch.setattr(sys, "stderr", closed)
        logs.searched(SEARCH, HASHER)


def test_nothing_is_written_before_the_log_is_set_up(capsys: pytest.CaptureFixture[str]) -> None:
    logs.searched(SEARCH, HASHER)
    logs.lifecycle("ready")
    assert capsys.readouterr() == ("", "")


def test_setting_up_again_replaces_the_one_before(capsys: pytest.CaptureFixture[str]) -> None:
    with logging_as("json", "info"):
        logs.configure("json", "info")
        logging.getLogger("loom.store").warning("once")
    assert len(lines(capsys)) == 1


def test_a_hash_is_repeated_by_its_key_alone() -> None:
    assert logs.Hasher("key").org("acme") == HASHER.org("acme") != logs.Hasher("other").org("acme")
    assert logs.Hasher().org("acme") != logs.Hasher().org("acme")
    assert HASHER.namespace("acme", "design") != HASHER.namespace("other", "design")
    key = blake2b(b"key").digest()
    assert HASHER.namespace("a", "b") == blake2b(b"a\0b", digest_size=8, key=key).hexdigest()
    assert logs.Hasher("k" * 1000).org("half \ud800")
