"""The client's one error tree. Everything that a call can raise is one of these.

    LoomClientError
      InvalidCall         an argument cannot be used; nothing was sent
      TransportError      no whole answer came: no connection, a time-out, a connection that broke
      UnexpectedAnswer    an answer that is not Loom's, such as a proxy's page
      ApiError            the service's own error, with its `code`
        RequestRefused    category request: a field is wrong, or its feature is not built
          NotFound        code not_found, unknown_operation
          Conflict        status 409
        Unauthenticated   status 401
        Forbidden         status 403
        RateLimited       status 429; `retry_after_s` says when to come back
        Unavailable       category availability: starting, out of time, cancelled
        StoreFailed       category store
        EmbedderFailed    category embedder
        InternalFailure   category internal

`code` is stable. A code or a category that this client does not know is a plain `ApiError`, so a newer
service needs no newer client. `request_id` is the id under which the service logged the call.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from loom_client.wire.problem import FieldProblem, Problem


class LoomClientError(Exception):
    """Base of all errors of the client."""

    def __init__(self, message: str, *, request_id: str = "") -> None:
        super().__init__(f"{message} (request {request_id})" if request_id else message)
        self.message = message
        self.request_id = request_id


class InvalidCall(LoomClientError):
    """An argument cannot be used; nothing was sent. `errors` names each wrong field."""

    def __init__(self, message: str, *, errors: tuple[FieldProblem, ...] = ()) -> None:
        super().__init__(message)
        self.errors = errors

    @classmethod
    def of(cls, operation: str, error: ValidationError) -> InvalidCall:
        """The fields that the operation's request does not take."""
        found = error.errors(include_url=False, include_input=False)
        errors = tuple(FieldProblem(path=_path(one), message=str(one["msg"])) for one in found)
        told = "; ".join(f"{one.path or 'the request'}: {one.message}" for one in errors)
        return cls(f"{operation}: {told}", errors=errors)


class TransportError(LoomClientError):
    """No whole answer came. `sent` says whether the service may have had the call."""

    def __init__(self, message: str, *, request_id: str, sent: bool, timed_out: bool) -> None:
        super().__init__(message, request_id=request_id)
        self.reason = message.partition(": ")[2] or message
        self.sent = sent
        self.timed_out = timed_out


class UnexpectedAnswer(LoomClientError):
    """An answer that is not Loom's. `status` is its HTTP status."""

    def __init__(self, message: str, *, request_id: str, status: int) -> None:
        super().__init__(message, request_id=request_id)
        self.status = status


class ApiError(LoomClientError):
    """The service's own error, its members as on the wire; `status` is the HTTP status."""

    def __init__(self, problem: Problem, status: int) -> None:
        super().__init__(problem.message, request_id=problem.request_id)
        self.status = status
        self.code = problem.code
        self.category = problem.category
        self.retryable = problem.retryable
        self.retry_after_s = problem.retry_after_s
        self.errors = problem.errors


class RequestRefused(ApiError):
    """The request cannot be answered as it is."""


class NotFound(RequestRefused):
    """What must exist does not."""


class Conflict(RequestRefused):
    """The stored value is another one, the key is ambiguous, or an idempotency key was used for another call."""


class Unauthenticated(ApiError):
    """No key, or not a valid one."""


class Forbidden(ApiError):
    """The caller may not do this."""


class RateLimited(ApiError):
    """Too many calls; all calls of this client wait until `retry_after_s` has passed."""


class Unavailable(ApiError):
    """The service is starting, ran out of time, or was cancelled."""


class StoreFailed(ApiError):
    """The store cannot be reached or refused."""


class EmbedderFailed(ApiError):
    """The embedder failed."""


class InternalFailure(ApiError):
    """A fault of the service; its log has the request's id."""


_BY_STATUS: Mapping[int, type[ApiError]] = {401: Unauthenticated, 403: Forbidden, 409: Conflict, 429: RateLimited}
_BY_CODE: Mapping[str, type[ApiError]] = {"not_found": NotFound, "unknown_operation": NotFound}
_BY_CATEGORY: Mapping[str, type[ApiError]] = {
    "request": RequestRefused,
    "availability": Unavailable,
    "store": StoreFailed,
    "embedder": EmbedderFailed,
    "internal": InternalFailure,
}


def api_error(problem: Problem, status: int) -> ApiError:
    """The problem as an error: by its status, else its code, else its category."""
    kind = _BY_STATUS.get(status) or _BY_CODE.get(problem.code) or _BY_CATEGORY.get(problem.category, ApiError)
    return kind(problem, status)


def _path(one: Mapping[str, object]) -> str:
    context, location = one.get("ctx"), one["loc"]
    parts = [str(part) for part in location] if isinstance(location, tuple) else []  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(context, Mapping) and "path" in context:
        parts.append(str(context["path"]))  # pyright: ignore[reportUnknownArgumentType]
    return ".".join(parts)
