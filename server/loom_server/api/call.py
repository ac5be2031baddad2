"""One call of one operation, the same behind every door.

    place -> parameters -> nesting -> validation -> deadline -> handler -> bytes

All behind the place runs in a thread, so that a large body keeps no other call waiting, and ends
in a `LoomError` or in the bytes of the answer. Reads take turns in the order of their arrival, a
few at once: more would only share the processors, and each would end later. Time spent in waiting
for a thread counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from hashlib import sha256
from time import monotonic
from typing import TypeVar, cast

import orjson
from anyio import to_thread
from pydantic import ValidationError
from starlette.types import Receive
from structlog.contextvars import bound_contextvars

from loom_client import wire
from loom_server.api.admission import Admission
from loom_server.api.failures import internal_error, log_failure
from loom_server.api.operations import OPERATIONS, Handlers, Operation
from loom_server.api.refusal import refusal
from loom_server.api.startup import STARTING_RETRY_S
from loom_server.errors import InvalidInput, LoomError, NotReady, UnknownOperation
from loom_server.model.deadline import Deadline
from loom_server.model.strict_json import check_nesting
from loom_server.observe.metrics import Metrics
from loom_server.service.once import IDEMPOTENCY, Asked, Done
from loom_server.settings import Settings
from loom_server.store.idempotency import Name
from loom_server.store.namespaces import ORG_ROW

_GIVEN_UP = "The service stopped before the call had ended; send it again, or after a write read the key."

Provider = Callable[[], Handlers | None]
"""The services, None while they start; raises the `LoomError` that stopped the start."""

T = TypeVar("T")


def unknown_operation(name: str) -> UnknownOperation:
    """The error for a name that no operation has."""
    return UnknownOperation(f"No operation is called '{name[:100]}'; ops.capabilities lists them.")


def sign(answer: wire.Answer, request_id: str) -> None:
    """Put the id of the request wherever an answer has a place for it."""
    if isinstance(answer, wire.MemorySearchResponse):
        answer.request_id = request_id
    elif isinstance(answer, wire.MemorySetManyResponse):
        for result in answer.results:
            if isinstance(result, wire.MemoryRefused):
                result.error.request_id = request_id


def is_final(answer: wire.Answer) -> bool:
    """Whether the same call would not do more: no item of it was refused in a way that may pass."""
    refused = answer.results if isinstance(answer, wire.MemorySetManyResponse) else ()
    return not any(isinstance(one, wire.MemoryRefused) and one.error.retryable for one in refused)


def named(operation: Operation, valid: wire.Request, parameters: object, key: str) -> Asked:
    """A write by its caller's name for it. Spaces and the order of fields in its body make no other request."""
    request = orjson.dumps(parameters, option=orjson.OPT_SORT_KEYS)
    org = getattr(valid, "org", None) or ORG_ROW
    return Asked(Name(org, operation.name, sha256(key.encode()).hexdigest()), sha256(request).hexdigest())


class Attended:
    """One HTTP request: its id, and the deadlines that end when its client goes away."""

    def __init__(self, request_id: str, receive: Receive) -> None:
        self.request_id = request_id
        self._receive = receive
        self._since = monotonic()
        self._deadlines: list[Deadline] = []
        self._gone = False

    def deadline(self, seconds: float) -> Deadline:
        """A deadline of `seconds` after the request came in."""
        deadline = Deadline(seconds - (monotonic() - self._since))
        self._deadlines.append(deadline)
        if self._gone:
            deadline.cancel()
        return deadline

    async def attend(self, work: Awaitable[T]) -> T:
        """Do the work, and cancel its deadlines when the client hangs up meanwhile.

        Raises `NotReady` where the service stops first and gives the work up.
        """
        watcher = asyncio.create_task(self._watch())
        try:
            return await work
        except asyncio.CancelledError:
            self._cancel()
            raise NotReady(_GIVEN_UP, retry_after_s=STARTING_RETRY_S) from None
        finally:
            watcher.cancel()

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._cancel()

    def _cancel(self) -> None:
        self._gone = True
        for deadline in tuple(self._deadlines):
            deadline.cancel()


class Calls:
    """Runs operations for the doors."""

    def __init__(self, provider: Provider, settings: Settings, metrics: Metrics | None = None) -> None:
        self.settings = settings
        self.admission = Admission(settings, metrics)
        self._provider = provider

    def services(self) -> Handlers:
        """The services. Raises `NotReady` while they start, and what stopped their start."""
        services = self._provider()
        if services is None:
            raise NotReady("The service is starting; try again in a moment.", retry_after_s=STARTING_RETRY_S)
        return services

    def check(self, operation: Operation) -> None:
        """Raise what would refuse the operation at once; to be asked before its body is read."""
        self.services()
        self.admission.of(operation.lane).check()

    async def call(self, name: str, parameters: object, request: Attended, key: str = "") -> bytes:
        """The answer of the operation as JSON; `key` is the caller's name for a write. Raises a `LoomError`."""
        operation = OPERATIONS.get(name)
        if operation is None:
            raise unknown_operation(name)
        if key and operation.contract.access != "write":
            raise InvalidInput.field(IDEMPOTENCY, f"is for writes; leave it out of {name}")
        services = self.services()
        with self.admission.of(operation.lane).place() as limiter:
            return await to_thread.run_sync(self._run, operation, services, parameters, request, key, limiter=limiter)

    def _run(self, operation: Operation, services: Handlers, parameters: object, request: Attended, key: str) -> bytes:
        try:
            valid = self.validated(operation, parameters)
            deadline = request.deadline(operation.seconds(valid, self.settings))
            deadline.check()

            def work() -> Done:
                answer = operation.handler(services)(valid, deadline)
                sign(answer, request.request_id)
                return Done(answer.json_bytes(), is_final(answer))

            with bound_contextvars(request_id=request.request_id):
                asked = named(operation, valid, parameters, key) if key else None
                return work().answer if asked is None else services.named(asked, work, deadline)
        except LoomError:
            raise
        except Exception as error:
            log_failure(error, request.request_id, operation.name)
            raise internal_error() from None

    def validated(self, operation: Operation, parameters: object) -> wire.Request:
        """The parameters as the operation's request. Raises an `InvalidInput`."""
        contract = operation.contract
        if not isinstance(parameters, dict):
            fields = ", ".join(name for name, info in contract.request.model_fields.items() if info.is_required())
            needs = f" with {fields}" if fields else ""
            raise InvalidInput(f"{contract.name} takes one JSON object{needs}, its fields by name.")
        check_nesting(cast(object, parameters), self.settings.max_nesting)
        try:
            return contract.request.model_validate(parameters)
        except ValidationError as error:
            raise refusal(contract, error) from None
