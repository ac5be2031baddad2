"""An error as an answer of HTTP."""

from __future__ import annotations

import math

from starlette.responses import Response

from loom_client.wire import ProblemBody, StartProblem, StartProgress
from loom_server.errors import LoomError
from loom_server.service.problems import problem

JSON = "application/json"


def problem_response(error: LoomError, request_id: str, headers: dict[str, str] | None = None) -> Response:
    """The error as an HTTP answer, with `Retry-After` where it is known when to come back."""
    return _response(error, ProblemBody(detail=problem(error, request_id)), headers or {})


def start_response(error: LoomError, request_id: str, startup: StartProgress) -> Response:
    """The same, with how far the start is beside it."""
    return _response(error, StartProblem(detail=problem(error, request_id), startup=startup), {})


def _response(error: LoomError, body: ProblemBody, headers: dict[str, str]) -> Response:
    return Response(body.json_bytes(), error.http_status, {**retry_after(error), **headers}, JSON)


def retry_after(error: LoomError) -> dict[str, str]:
    """The header that says when to come back."""
    return {} if error.retry_after_s is None else {"Retry-After": str(math.ceil(error.retry_after_s))}
