"""The HTTP application: the doors, mounted on one FastAPI app.

It listens before the services have started: until then every operation answers `not_ready`
(503 with `Retry-After`), and only `/health/live` is well.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, cast

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from loom_server import __version__
from loom_server.api.call import Calls, Provider, unknown_operation
from loom_server.api.edge import Edge, host_names
from loom_server.api.health import add_health
from loom_server.api.http import ERRORS, OPERATION_PATH, add_operations, direct
from loom_server.api.metrics import add_metrics
from loom_server.api.problems import problem_response
from loom_server.api.rpc import Rpc
from loom_server.api.startup import Progress, seen_of
from loom_server.api.tally import RPC_PATH, Tally
from loom_server.errors import InvalidRequest, LoomError, MethodNotAllowed, NotFound
from loom_server.observe.metrics import Metrics
from loom_server.settings import Settings

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

_ABOUT = "A retrieval service for the memory of agents and teams."
_RPC_STATUSES = (403, 405, 413, 415, 500)
_RPC_ABOUT = (
    "JSON-RPC 2.0 over the same operations: requests, notifications and batches, parameters by name."
    " `error.data` has the members of an HTTP error's `detail`."
)


def create_app(
    provider: Provider,
    settings: Settings,
    lifespan: Lifespan | None = None,
    metrics: Metrics | None = None,
    progress: Progress | None = None,
) -> FastAPI:
    """The application. `provider` gives the services, None while they start; it is asked on every call.

    `metrics`, where they are given, are served at `/metrics`; the services are made with the same ones.
    `progress` tells how far the start is; without it, only whether it has ended is known.
    """
    app = FastAPI(
        title="Loom Recall",
        version=__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
        lifespan=lifespan,
    )
    tally = Tally(metrics)
    app.add_middleware(Edge, hosts=host_names(settings.host, settings.allowed_hosts), tally=tally)
    app.add_exception_handler(HTTPException, _routing_problem)
    app.add_exception_handler(LoomError, _problem)
    calls = Calls(provider, settings, metrics)
    add_health(app.router, calls, progress or seen_of(provider))
    add_operations(app.router, calls)
    _add_rpc(app, Rpc(calls, tally))
    if metrics is not None:
        add_metrics(app.router, calls, metrics)
    return app


def _add_rpc(app: FastAPI, rpc: Rpc) -> None:
    def described(body: Any) -> Any:
        raise AssertionError("the route's own handler answers")

    described.__annotations__ = {"body": dict[str, Any] | list[dict[str, Any]], "return": dict[str, Any] | list[Any]}
    app.router.add_api_route(
        RPC_PATH,
        described,
        methods=["POST"],
        operation_id="rpc",
        tags=["rpc"],
        summary="Call operations by JSON-RPC.",
        description=_RPC_ABOUT,
        responses={
            204: {"description": "Notifications only."},
            400: {"description": "Not JSON: a JSON-RPC error with code -32700."},
            422: {"description": "Never sent; a wrong call is a JSON-RPC error with status 200."},
            **{status: ERRORS[status] for status in _RPC_STATUSES},
        },
        route_class_override=direct(rpc.serve),
    )


def _problem(request: Request, error: Exception) -> Response:
    told = cast(LoomError, error)
    request.state.code = told.code
    return problem_response(told, request.state.request_id)


def _routing_problem(request: Request, error: Exception) -> Response:
    routed = cast(HTTPException, error)
    told = _routed(request, routed)
    request.state.code = told.code
    return problem_response(told, request.state.request_id, dict(routed.headers or {}))


def _routed(request: Request, error: HTTPException) -> LoomError:
    path = request.url.path[:100]
    if error.status_code == 404 and path.startswith(OPERATION_PATH):
        return unknown_operation(path.removeprefix(OPERATION_PATH))
    if error.status_code == 404:
        return NotFound(f"Nothing is served at {path}; operations are at POST /v1/<name> and POST /rpc.")
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "another method")
        return MethodNotAllowed(f"{path} is served by {allowed}, not by {request.method}.")
    return InvalidRequest(str(error.detail))
