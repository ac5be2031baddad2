"""The log: events on stderr, by one renderer, from structlog and from the standard library alike.

    loom.*, loom_server.*   at LOOM_LOG_LEVEL
    every other library     warnings and errors, of which only the text before its arguments is kept

One event a search (`search`), one a write operation (`write`), one a refused call (`refused`, at debug). An event
holds codes, counts, times and the request's id; never a question, a key, a value, a user or an API key. Org and
namespace are hashed:

    hash(text) = BLAKE2b(text, key), 8 bytes as hex         of a namespace, text is org + NUL + namespace

The key is LOOM_LOG_HASH_KEY, so that lines of several processes and days compare; without it the key is random in
each process, and a guess at a name proves nothing.

An exception is told by its kind and the lines it came through: its own text may hold what a caller wrote.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from hashlib import blake2b
from secrets import token_bytes
from traceback import format_tb
from typing import Any, TypeAlias, cast

import orjson
import structlog

from loom_server.observe.seen import SearchSeen, WriteSeen
from loom_server.settings import LogFormat, LogLevel

Event: TypeAlias = MutableMapping[str, Any]

OWN = ("loom", "loom_server")
"""The loggers of this project."""
TALKATIVE = ("urllib3", "clickhouse_connect")
"""They warn of what the store tells as an error, with its mend."""

HASH_BYTES = 8
LONGEST_FOREIGN = 200
_FIRST = ("timestamp", "level", "logger", "event")
_TROUBLE = frozenset({"deadline", "failed"})
"""Outcomes that are a warning; a call that was refused or given up is its caller's matter."""

_NAMES = ("search", "write", "request", "serve")
_searches, _writes, _requests, _service = (structlog.get_logger(f"loom.{name}") for name in _NAMES)
_told = {name: logging.getLogger(f"loom.{name}") for name in _NAMES}


class Hasher:
    """Names orgs and namespaces in the log."""

    def __init__(self, key: str = "") -> None:
        """`key` is of any length; an empty one is replaced by a random one."""
        self._key = blake2b(key.encode()).digest() if key else token_bytes(64)

    def org(self, org: str) -> str:
        """The hash of an org."""
        return self._of(org)

    def namespace(self, org: str, namespace: str) -> str:
        """The hash of a namespace, which differs from that of its namesake in another org."""
        return self._of(f"{org}\0{namespace}")

    def _of(self, text: str) -> str:
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES, key=self._key).hexdigest()


class Line:
    """Writes rendered events to what stderr is at that moment; structlog's end of the line.

    The standard library's records cost three times as much, and nothing between needs them.
    """

    def __init__(self, name: str = "loom") -> None:
        self.name = name

    def msg(self, message: str) -> None:
        """Write one line. A stderr whose reader has gone must not fail what is being told of."""
        with suppress(OSError, ValueError):
            sys.stderr.write(f"{message}\n")
            sys.stderr.flush()

    debug = info = warning = error = critical = exception = log = msg


class Handler(logging.StreamHandler[Any]):
    """Writes to what stderr is at that moment, which tests and callers may have replaced."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        self.stream = sys.stderr
        super().emit(record)


def configure(log_format: LogFormat = "auto", level: LogLevel = "info") -> None:
    """Set the log of this process up; may be called again."""
    lowest, renderer = logging.getLevelNamesMapping()[level.upper()], _renderer(log_format)
    handler = Handler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
            foreign_pre_chain=[_foreign, *_shared()],
        )
    )
    root = logging.getLogger()
    for before in [one for one in root.handlers if isinstance(one, Handler)]:
        root.removeHandler(before)
    root.addHandler(handler)
    root.setLevel(max(lowest, logging.WARNING))
    for name in OWN:
        logging.getLogger(name).setLevel(lowest)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(max(lowest, logging.ERROR) if lowest > logging.DEBUG else lowest)
    structlog.configure(
        processors=[*_shared(), renderer],
        wrapper_class=structlog.make_filtering_bound_logger(lowest),
        logger_factory=Line,
        cache_logger_on_first_use=False,
    )


def searched(seen: SearchSeen, hasher: Hasher) -> None:
    """The event of one search."""
    level = _level(seen.outcome)
    if not _told["search"].isEnabledFor(level):
        return
    _searches.log(
        level,
        "search",
        **_ended(seen, hasher),
        mode=seen.mode,
        legs={
            leg.leg: {"state": leg.state, "ms": round(leg.milliseconds, 2), "count": len(leg.ids)} for leg in seen.legs
        },
        pool=seen.pooled,
        served=seen.served,
        abstain=seen.abstain,
    )


def wrote(seen: WriteSeen, hasher: Hasher) -> None:
    """The event of one write operation."""
    level = _level(seen.outcome)
    if not _told["write"].isEnabledFor(level):
        return
    _writes.log(
        level,
        "write",
        **_ended(seen, hasher),
        operation=seen.operation,
        rows=seen.rows,
        written=seen.written,
    )


def refused(door: str, operation: str, status: int, code: str, request_id: str) -> None:
    """The event of one call that was answered with an error. `door` and `operation` are of the closed sets."""
    if _told["request"].isEnabledFor(logging.DEBUG):
        _requests.debug("refused", door=door, operation=operation, status=status, code=code, request_id=request_id)


def lifecycle(event: str, **told: object) -> None:
    """A moment in the life of the service: it listens, is ready, drains, has stopped."""
    if _told["serve"].isEnabledFor(logging.INFO):
        _service.info(event, **told)


def without_values(logger: Any, method: str, event: Event) -> Event:
    """An exception as its kind and the lines of code it came through."""
    event.pop("stack_info", None)
    given = event.pop("exc_info", None)
    error: object = given
    if given is True:
        error = sys.exc_info()[1]
    elif isinstance(given, tuple):
        error = cast("tuple[object, ...]", given)[1]
    if isinstance(error, BaseException):
        event.setdefault("error", type(error).__name__)
        event["traceback"] = "".join(format_tb(error.__traceback__))
    return event


def _ended(seen: SearchSeen | WriteSeen, hasher: Hasher) -> dict[str, object]:
    """What every operation tells of its end."""
    return {
        "org": hasher.org(seen.org),
        "namespace": hasher.namespace(seen.org, seen.namespace),
        "outcome": seen.outcome,
        "degraded": list(seen.degraded),
        "error": seen.error,
        "duration_ms": round(seen.seconds * 1000.0, 2),
    }


def _level(outcome: str) -> int:
    return logging.WARNING if outcome in _TROUBLE else logging.INFO


def _shared() -> list[Any]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        without_values,
    ]


def _foreign(logger: Any, method: str, event: Event) -> Event:
    """Of another library's line, what stands before its arguments: they may be what a caller sent."""
    record: logging.LogRecord = event["_record"]
    if record.name.partition(".")[0] not in OWN:
        event["event"] = str(record.msg).partition("\n")[0][:LONGEST_FOREIGN]
    return event


def _renderer(log_format: LogFormat) -> Any:
    tty = sys.stderr.isatty()
    if log_format == "json" or (log_format == "auto" and not tty):
        return structlog.processors.JSONRenderer(serializer=_json)
    colours = tty and not os.environ.get("NO_COLOR")
    return structlog.dev.ConsoleRenderer(colors=bool(colours))


def _json(event: Mapping[str, Any], **options: Any) -> str:
    first = {name: event[name] for name in _FIRST if name in event}
    return orjson.dumps({**first, **event}, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
