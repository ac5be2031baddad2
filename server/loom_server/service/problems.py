"""The one shape of an error on the wire: in an answer, in HTTP's `detail`, in JSON-RPC's `error.data`."""

from __future__ import annotations

from loom_client.wire import FieldProblem, Problem
from loom_server.errors import LoomError


def problem(error: LoomError, request_id: str = "") -> Problem:
    """What a caller is told of an error; every member is there. The doors know the request's id."""
    return Problem(
        code=error.code,
        message=error.message,
        category=error.category,
        retryable=error.retryable,
        retry_after_s=error.retry_after_s,
        errors=tuple(FieldProblem(path=one.path, message=one.message) for one in error.errors),
        request_id=request_id,
    )
