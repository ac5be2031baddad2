"""The log of this process as a service sets it up, while a block runs; what it writes goes to stderr."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from loom_server.observe import logs
from loom_server.settings import LogFormat, LogLevel


@contextmanager
def logging_as(log_format: LogFormat, level: LogLevel) -> Iterator[None]:
    """Log so in the block; afterwards everything is as it was."""
    before = structlog.get_config()
    names = ("", *logs.OWN)
    levels = {name: logging.getLogger(name).level for name in names}
    handlers = list(logging.getLogger().handlers)
    logs.configure(log_format, level)
    try:
        yield
    finally:
        structlog.configure(**before)
        logging.getLogger().handlers[:] = handlers
        for name, was in levels.items():
            logging.getLogger(name).setLevel(was)
