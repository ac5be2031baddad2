"""One logical call as a conversation, without any input or output of its own.

    exchange(call, session)  yields Pause | Post,  is sent None | Got | Broken,  returns the answer

Whoever runs it does what is yielded and sends back what came of it. So the sync and the async client share every
decision and differ in one `await`, and a test needs neither a network nor a clock.

A read is sent again where its error is retryable. A write is sent again only where it cannot be done twice: nothing
had been sent, or it carries an Idempotency-Key, which stays the same over its attempts. A service that does not know
such keys refuses the first one before it writes; from then on this client leaves them out and sends no write twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from random import random
from secrets import token_hex
from time import monotonic
from typing import Generic, TypeVar

from pydantic import ValidationError

from loom_client.errors import ApiError, LoomClientError, RateLimited, TransportError, UnexpectedAnswer, api_error
from loom_client.retry import Pace, RetryPolicy
from loom_client.wire.base import Answer
from loom_client.wire.problem import Problem, ProblemBody

IDEMPOTENCY, REQUEST_ID = "Idempotency-Key", "X-Request-ID"
MARGIN_S = 5.0
"""What a time-out leaves the service to tell that the request's own time is over."""

_PASSING = frozenset({429, 502, 503, 504})
"""Statuses by which a proxy says that the same call may succeed later."""

A = TypeVar("A", bound=Answer)


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Post:
    """Send one POST. `timeout_s` bounds each silence of the service."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Got:
    """A whole answer. The names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Broken:
    """No whole answer. `sent` is false only where the service cannot have had the call."""

    reason: str
    sent: bool
    timed_out: bool


@dataclass(frozen=True, slots=True)
class Call(Generic[A]):
    """One logical call. `key` is the Idempotency-Key of a write, empty for none."""

    name: str
    body: bytes
    kind: type[A]
    writes: bool
    timeout_s: float
    key: str = ""
    request_id: str = field(default_factory=lambda: token_hex(8))


@dataclass(slots=True)
class Session:
    """What the calls of one client share."""

    policy: RetryPolicy
    pace: Pace = field(default_factory=Pace)
    keys_known: bool = True
    now: Callable[[], float] = monotonic
    chance: Callable[[], float] = random


Conversation = Generator[Pause | Post, Got | Broken | None, A]


def exchange(call: Call[A], session: Session) -> Conversation[A]:
    """The whole call. Raises a `LoomClientError`."""
    began, attempts = session.now(), 0
    while True:
        yield from _turn(call, session, began)
        keyed = bool(call.key) and session.keys_known
        sent_at = session.now()
        left = session.policy.total_s - (sent_at - began)
        came = yield _post(call, keyed, call.timeout_s if attempts == 0 else min(call.timeout_s, left))
        attempts += 1
        outcome = _judged(call, came)
        _adjust(session, outcome, sent_at)
        if not isinstance(outcome, LoomClientError):
            return outcome
        if keyed and _refuses_keys(outcome):
            session.keys_known, attempts = False, attempts - 1
            continue
        pause = session.policy.pause(attempts, retry_after_s(outcome), session.chance())
        again = may_repeat(outcome, call.writes, keyed) and attempts < session.policy.attempts
        if not again or session.now() + pause - began >= session.policy.total_s:
            raise outcome
        yield Pause(pause)


def may_repeat(error: LoomClientError, writes: bool, keyed: bool) -> bool:
    """Whether sending the call again may succeed and cannot do anything twice."""
    if isinstance(error, TransportError):
        return not error.sent or not writes or keyed
    passing = error.retryable if isinstance(error, ApiError) else _status(error) in _PASSING
    # A refusal by 429 comes before the call is begun, so that a write is not done twice either.
    return passing and (not writes or keyed or isinstance(error, RateLimited))


def retry_after_s(error: LoomClientError) -> float | None:
    """How long the service asks to wait."""
    return error.retry_after_s if isinstance(error, ApiError) else None


def _turn(call: Call[A], session: Session, began: float) -> Generator[Pause | Post, Got | Broken | None]:
    """Wait for the pace. Raises `RateLimited` where that would take longer than the call may."""
    while wait := session.pace.take(session.now()):
        if session.now() + wait - began >= session.policy.total_s:
            message = f"Not sent: the service asked this client to wait, and {wait:.1f} s are left of that."
            raise RateLimited(_limited(message, wait, call.request_id), 429)
        yield Pause(wait)


def _post(call: Call[A], keyed: bool, timeout_s: float) -> Post:
    headers = {"Content-Type": "application/json", REQUEST_ID: call.request_id}
    if keyed:
        headers[IDEMPOTENCY] = call.key
    return Post(f"/v1/{call.name}", headers, call.body, max(timeout_s, 0.001))


def _judged(call: Call[A], came: Got | Broken | None) -> A | LoomClientError:
    if isinstance(came, Got):
        return _answered(call, came) if came.status == 200 else _refused(call, came)
    reason, sent, late = (came.reason, came.sent, came.timed_out) if came else ("nothing came back", True, False)
    return TransportError(f"{call.name}: {reason}", request_id=call.request_id, sent=sent, timed_out=late)


def _answered(call: Call[A], got: Got) -> A | UnexpectedAnswer:
    try:
        return call.kind.model_validate_json(got.body)
    except ValidationError:
        return _foreign(call, got)


def _refused(call: Call[A], got: Got) -> LoomClientError:
    told = _seconds(got.headers.get("retry-after"))
    try:
        problem = ProblemBody.model_validate_json(got.body).detail
    except ValidationError:
        if got.status == 429:
            return RateLimited(_limited("Too many calls.", told, call.request_id), 429)
        return _foreign(call, got)
    given = {"request_id": problem.request_id or call.request_id}
    if problem.retry_after_s is None and told is not None:
        return api_error(problem.model_copy(update={**given, "retry_after_s": told}), got.status)
    return api_error(problem.model_copy(update=given), got.status)


def _foreign(call: Call[A], got: Got) -> UnexpectedAnswer:
    kind = got.headers.get("content-type", "no content type")
    message = (
        f"{call.name}: the answer is not Loom's: status {got.status}, {kind}, {len(got.body)} bytes."
        " Look for a proxy or another service at this address."
    )
    return UnexpectedAnswer(message, request_id=call.request_id, status=got.status)


def _limited(message: str, wait: float | None, request_id: str) -> Problem:
    return Problem(
        code="rate_limited",
        message=message,
        category="availability",
        retryable=True,
        retry_after_s=wait,
        request_id=request_id,
    )


def _adjust(session: Session, outcome: Answer | LoomClientError, sent_at: float) -> None:
    if isinstance(outcome, RateLimited):
        session.pace.slow_down(session.now(), outcome.retry_after_s)
    elif not isinstance(outcome, TransportError):
        session.pace.speed_up(sent_at)


def _refuses_keys(error: LoomClientError) -> bool:
    named = isinstance(error, ApiError) and any(one.path == IDEMPOTENCY for one in error.errors)
    return named and isinstance(error, ApiError) and error.code == "not_supported"


def _status(error: LoomClientError) -> int:
    return error.status if isinstance(error, UnexpectedAnswer) else 0


def _seconds(text: str | None) -> float | None:
    """`Retry-After` in seconds; its form as a date, and anything else, is not read."""
    try:
        seconds = float(text) if text is not None else None
    except ValueError:
        return None
    return seconds if seconds is not None and math.isfinite(seconds) and seconds >= 0 else None
