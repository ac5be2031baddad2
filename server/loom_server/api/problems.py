"""The one shape of an error, on HTTP and inside JSON-RPC."""

from __future__ import annotations

import math

from starlette.responses import Response

from loom_client.wire import FieldProblem, Problem, ProblemBody
from loom_server.errors import LoomError

JSON = "application/json"


def problem(error: LoomError, request_id: str) -> Problem:
    """What a caller is told of an error; every member is there."""
    return Problem(
        code=error.code,
        message=error.message,
        category=error.category,
        retryable=error.retryable,
        retry_after_s=error.retry_after_s,
        errors=tuple(FieldProblem(path=one.path, message=one.message) for one in error.errors),
        request_id=request_id,
    )


def problem_response(error: LoomError, request_id: str, headers: dict[str, str] | None = None) -> Response:
    """The error as an HTTP answer, with `Retry-After` where it is known when to come back."""
    body = ProblemBody(detail=problem(error, request_id)).json_bytes()
    return Response(body, error.http_status, {**retry_after(error), **(headers or {})}, JSON)


def retry_after(error: LoomError) -> dict[str, str]:
    """The header that says when to come back."""
    return {} if error.retry_after_s is None else {"Retry-After": str(math.ceil(error.retry_after_s))}
