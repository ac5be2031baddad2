"""What happens to an error that nobody foresaw: the log learns where, the caller learns that.

The log is given the kind of the error and the lines it came through. Its text and the values of
variables stay out, since they may hold what a caller wrote.
"""

from __future__ import annotations

from traceback import format_tb

import structlog

from loom_server.errors import LoomError

_log = structlog.get_logger("loom_server.api")


def log_failure(error: Exception, request_id: str, where: str) -> None:
    """Write the failure to the log."""
    lines = "".join(format_tb(error.__traceback__))
    _log.error("request_failed", where=where, request_id=request_id, error=type(error).__name__, traceback=lines)


def internal_error() -> LoomError:
    """What the caller is told."""
    return LoomError("The service failed on this request; its log has the details under the request id.")
