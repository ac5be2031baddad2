"""An error as an answer of HTTP."""

from __future__ import annotations

import math

from starlette.responses import Response

from loom_client.wire import ProblemBody
from loom_server.errors import LoomError
from loom_server.service.problems import problem

JSON = "application/json"


def problem_response(error: LoomError, request_id: str, headers: dict[str, str] | None = None) -> Response:
    """The error as an HTTP answer, with `Retry-After` where it is known when to come back."""
    body = ProblemBody(detail=problem(error, request_id)).json_bytes()
    return Response(body, error.http_status, {**retry_after(error), **(headers or {})}, JSON)


def retry_after(error: LoomError) -> dict[str, str]:
    """The header that says when to come back."""
    return {} if error.retry_after_s is None else {"Retry-After": str(math.ceil(error.retry_after_s))}
