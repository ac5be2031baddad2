"""`GET /metrics`: what was counted, as Prometheus' text, or as OpenMetrics where `Accept` asks for it.

It takes no turn among the calls, so that it answers while they wait. OpenAPI leaves it out, since that
describes JSON.
"""

from __future__ import annotations

from anyio import to_thread
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from loom_server.api.call import Calls
from loom_server.api.tally import METRICS_PATH
from loom_server.observe.metrics import Metrics


def add_metrics(router: APIRouter, calls: Calls, metrics: Metrics) -> None:
    """The one route."""

    async def endpoint(request: Request) -> Response:
        for lane, running, waiting in calls.admission.load():
            metrics.calls(lane, running, waiting)
        body, media_type = await to_thread.run_sync(metrics.exposition, request.headers.get("accept", ""))
        return Response(body, headers={"Content-Type": media_type})

    router.add_route(METRICS_PATH, endpoint, methods=["GET"], include_in_schema=False)
