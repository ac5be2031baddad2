"""Health: `/health/live` (no I/O), `/health/ready` and `/v1/health` (the answer of `ops.health`).

Ready means that the services have started and that no check failed; anything else is a 503
with the reason, so that a balancer and a person read the same thing.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from loom_client.wire import OpsHealthResponse
from loom_server.api.call import STARTING_RETRY_S, Attended, Calls
from loom_server.api.http import ERRORS, Endpoint, direct
from loom_server.api.problems import JSON
from loom_server.errors import NotReady

_ALIVE = b'{"status":"live"}'
_STATUSES = (403, 405, 429, 500, 503, 504)


def add_health(router: APIRouter, calls: Calls) -> None:
    """The three routes."""
    _add(router, "/health/live", "Whether the process answers.", _live, dict[str, str])
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
        responses={status: ERRORS[status] for status in _STATUSES},
        route_class_override=direct(endpoint),
    )


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
