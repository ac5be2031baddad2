"""Health, for balancers and for people, who read the same thing.

    /health/live      the process answers; no I/O
    /health/startup   the start has ended well, and stays so; until then which stage runs; no I/O
    /health/ready     the services have started, do not stop, and no check failed; also at /v1/health (`ops.health`)

Anything else is a 503 with the reason.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from loom_client.wire import OpsHealthResponse, StartProblem, StartProgress
from loom_server.api.call import Attended, Calls
from loom_server.api.http import ERRORS, Endpoint, direct
from loom_server.api.problems import JSON, start_response
from loom_server.api.startup import STARTING_RETRY_S, Progress
from loom_server.errors import NotReady

_ALIVE = b'{"status":"live"}'
_STARTING: dict[str, dict[int | str, dict[str, Any]]] = {
    "/health/startup": {503: {"model": StartProblem, "description": "The start has not ended, or has failed."}}
}
_STATUSES = (403, 405, 429, 500, 503, 504)


def add_health(router: APIRouter, calls: Calls, progress: Progress) -> None:
    """The four routes."""
    _add(router, "/health/live", "Whether the process answers.", _live, dict[str, str])
    _add(router, "/health/startup", "How far the start is.", _startup(progress), StartProgress)
    _add(router, "/health/ready", "Whether the service can be used.", _ready(calls), OpsHealthResponse)
    _add(router, "/v1/health", "Whether the service can be used.", _ready(calls), OpsHealthResponse)


def _add(router: APIRouter, path: str, summary: str, endpoint: Endpoint, answer: Any) -> None:
    def described() -> Any:
        raise AssertionError("the route's own handler answers")

    router.add_api_route(
        path,
        described,
        methods=["GET"],
        name=path,
        operation_id=path.strip("/").replace("/", "."),
        tags=["health"],
        summary=summary,
        response_model=answer,
        responses={status: ERRORS[status] for status in _STATUSES} | _STARTING.get(path, {}),
        route_class_override=direct(endpoint),
    )


def _startup(progress: Progress) -> Endpoint:
    async def startup(request: Request) -> Response:
        told, error = progress()
        if told.status == "started":
            return Response(told.json_bytes(), media_type=JSON)
        error = error or NotReady(_sentence(told), retry_after_s=STARTING_RETRY_S)
        request.state.code = error.code
        return start_response(error, request.state.request_id, told)

    return startup


def _sentence(told: StartProgress) -> str:
    since = "" if told.stage_ms is None else f"; the stage '{told.stage}' has run for {told.stage_ms / 1000.0:.1f} s"
    return f"The service is starting{since}."


async def _live(request: Request) -> Response:
    return Response(_ALIVE, media_type=JSON)


def _ready(calls: Calls) -> Endpoint:
    async def ready(request: Request) -> Response:
        attended = Attended(request.state.request_id, request.receive)
        body = await calls.call("ops.health", {}, attended)
        health = OpsHealthResponse.model_validate_json(body)
        if health.status == "failed":
            told = "; ".join(f"{check.name}: {check.detail}" for check in health.checks if not check.ok)
            raise NotReady(f"The service cannot be used: {told}.", retry_after_s=STARTING_RETRY_S)
        return Response(body, media_type=JSON)

    return ready
