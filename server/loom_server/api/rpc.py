"""JSON-RPC 2.0 on `POST /rpc`: calls, notifications, and batches that run side by side.

An answer that is JSON-RPC has HTTP status 200, or 400 where the body could not be read as
JSON; notifications alone are answered with 204. `error.data` has the members of HTTP's
`detail`. Parameters are an object: the operations have too many fields to be given by place.
`rpc.discover` tells what can be called; it is no operation, and needs no services.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, cast

import orjson
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from loom_server.api.call import Attended, Calls
from loom_server.api.discover import DISCOVER, discovered
from loom_server.api.limits import key_of, read_json
from loom_server.api.problems import JSON
from loom_server.api.tally import Tally
from loom_server.errors import InvalidInput, InvalidJson, InvalidRequest, LoomError, UnknownOperation
from loom_server.service.once import IDEMPOTENCY
from loom_server.service.problems import problem

_MEMBERS = frozenset({"jsonrpc", "method", "params", "id"})
_RESERVED = "rpc."

Id = str | int | float | None


@dataclass(frozen=True, slots=True)
class Call:
    """One request object. A notification is answered with nothing, even when it fails."""

    method: str
    params: object
    id: Id
    notification: bool


class Rpc:
    """The JSON-RPC door."""

    def __init__(self, calls: Calls, tally: Tally) -> None:
        self._calls: Final = calls
        self._tally: Final = tally

    async def serve(self, request: Request) -> Response:
        """Answer one HTTP request."""
        attended = Attended(request.state.request_id, request.receive)
        try:
            body = await read_json(request, self._calls.settings.max_body_bytes)
        except InvalidJson as error:
            request.state.code = error.code
            return Response(_failed(None, error, attended), 400, media_type=JSON)
        if isinstance(body, list):
            return await self._batch(cast("list[object]", body), attended, request)
        answer = await attended.attend(self._answer(body, attended, request))
        return Response(status_code=204) if answer is None else Response(answer, media_type=JSON)

    async def _batch(self, items: list[object], attended: Attended, request: Request) -> Response:
        try:
            self._check_batch(len(items), request)
        except LoomError as error:
            self._tally.called("", error, attended.request_id)
            return Response(_failed(None, error, attended), media_type=JSON)
        work = asyncio.gather(*(self._answer(item, attended) for item in items))
        answers = [answer for answer in await attended.attend(work) if answer is not None]
        return Response(b"[" + b",".join(answers) + b"]", media_type=JSON) if answers else Response(status_code=204)

    def _check_batch(self, calls: int, request: Request) -> None:
        most = self._calls.settings.max_batch
        if not 0 < calls <= most:
            raise InvalidRequest(f"A batch holds 1 to {most} calls, not {calls}.")
        if IDEMPOTENCY in request.headers:
            raise InvalidInput.field(IDEMPOTENCY, "names one call; send the writes of a batch one by one to name them")

    async def _answer(self, item: object, attended: Attended, request: Request | None = None) -> bytes | None:
        """The answer of a call; `request` is there where it carries this call alone, whose key it may have."""
        try:
            call = read_call(item)
        except LoomError as error:
            self._tally.called("", error, attended.request_id)
            return _failed(_id_of(item), error, attended)
        try:
            result = await self._result(call, attended, "" if request is None else key_of(request))
        except LoomError as error:
            self._tally.called(call.method, error, attended.request_id)
            return None if call.notification else _failed(call.id, error, attended)
        self._tally.called(call.method, None, attended.request_id)
        return None if call.notification else _succeeded(call.id, result)

    async def _result(self, call: Call, attended: Attended, key: str) -> bytes:
        if call.method == DISCOVER:
            with self._calls.admission.of("ops").place() as limiter:
                return await to_thread.run_sync(discovered, call.params, limiter=limiter)
        if call.method.startswith(_RESERVED):
            raise UnknownOperation(f"Methods that begin with '{_RESERVED}' are reserved; only {DISCOVER} is served.")
        return await self._calls.call(call.method, call.params, attended, key)


def read_call(item: object) -> Call:
    """One request object. Raises `InvalidRequest`."""
    if not isinstance(item, dict):
        raise InvalidRequest("A call is a JSON object.")
    members = cast("dict[str, object]", item)
    if members.get("jsonrpc") != "2.0":
        raise InvalidRequest.field("jsonrpc", "must be '2.0'")
    if unknown := sorted(members.keys() - _MEMBERS):
        raise InvalidRequest.field(unknown[0][:100], "is not a member of a call")
    method, identity = members.get("method"), members.get("id")
    if not isinstance(method, str):
        raise InvalidRequest.field("method", "must be the name of an operation")
    if not _is_id(identity):
        raise InvalidRequest.field("id", "must be text, a number or null")
    return Call(method, members.get("params", {}), cast(Id, identity), "id" not in members)


def _is_id(value: object) -> bool:
    return value is None or (isinstance(value, str | int | float) and not isinstance(value, bool))


def _id_of(item: object) -> Id:
    found = cast("dict[str, object]", item).get("id") if isinstance(item, dict) else None
    return cast(Id, found) if _is_id(found) else None


def _succeeded(identity: Id, result: bytes) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "result": orjson.Fragment(result), "id": identity})


def _failed(identity: Id, error: LoomError, attended: Attended) -> bytes:
    data = problem(error, attended.request_id).plain()
    told = {"code": error.rpc_code, "message": error.message, "data": data}
    return orjson.dumps({"jsonrpc": "2.0", "error": told, "id": identity})
