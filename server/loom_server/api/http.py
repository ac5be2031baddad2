"""Flat HTTP: `POST /v1/{operation}`, the operation's own object in and out.

FastAPI describes the routes (OpenAPI: schemas, errors, ids); the answers are made by the shared
call, past FastAPI's own validation, which would cost more than the search's own work.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from loom_client.wire import Contract, ProblemBody
from loom_server.api.call import Attended, Calls
from loom_server.api.limits import key_of, read_json
from loom_server.api.operations import OPERATIONS, Operation
from loom_server.api.problems import JSON

Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]

OPERATION_PATH = "/v1/"

ERRORS: Mapping[int | str, dict[str, Any]] = {
    400: {"model": ProblemBody, "description": "Not JSON, or a field whose feature is not built."},
    403: {"model": ProblemBody, "description": "The Host header names another service."},
    404: {"model": ProblemBody, "description": "No such path or operation."},
    405: {"model": ProblemBody, "description": "The path is not served by this method."},
    409: {"model": ProblemBody, "description": "The stored value is another one, or the key is ambiguous."},
    413: {"model": ProblemBody, "description": "A bound on size, length or nesting was passed."},
    415: {"model": ProblemBody, "description": "The body is not sent as JSON."},
    422: {"model": ProblemBody, "description": "A field is wrong; `errors` names each."},
    429: {"model": ProblemBody, "description": "Too many calls run and wait already."},
    500: {"model": ProblemBody, "description": "The service failed."},
    503: {"model": ProblemBody, "description": "Starting, or the store or the embedder is unavailable."},
    504: {"model": ProblemBody, "description": "The time given was used up."},
}
READ_ERRORS = {status: told for status, told in ERRORS.items() if status != 409}


def direct(endpoint: Endpoint) -> type[APIRoute]:
    """A route that FastAPI describes and `endpoint` answers."""

    class Direct(APIRoute):
        def get_route_handler(self) -> Endpoint:
            return endpoint

    return Direct


def add_operations(router: APIRouter, calls: Calls) -> None:
    """One real route an operation."""
    for name, operation in OPERATIONS.items():
        contract = operation.contract
        router.add_api_route(
            f"{OPERATION_PATH}{name}",
            _described(contract),
            methods=["POST"],
            operation_id=name,
            name=name,
            tags=[name.partition(".")[0]],
            summary=contract.summary,
            description=contract.request.__doc__ or "",
            response_description=contract.response.__doc__ or "",
            responses=dict(ERRORS if contract.access == "write" else READ_ERRORS),
            route_class_override=direct(_endpoint(operation, calls)),
        )


def _described(contract: Contract) -> Callable[..., Any]:
    def operation(body: Any) -> Any:
        raise AssertionError("the route's own handler answers")

    operation.__annotations__ = {"body": contract.request, "return": contract.response}
    return operation


def _endpoint(operation: Operation, calls: Calls) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        attended = Attended(request.state.request_id, request.receive)
        calls.check(operation)
        key = key_of(request)
        parameters = await read_json(request, calls.settings.max_body_bytes)
        answer = await attended.attend(calls.call(operation.name, parameters, attended, key))
        return Response(answer, media_type=JSON)

    return endpoint
