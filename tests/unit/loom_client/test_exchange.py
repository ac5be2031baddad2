"""A call as a conversation: every fault, on a clock that stands still until a pause."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from loom_client import wire
from loom_client.errors import (
    ApiError,
    Conflict,
    InternalFailure,
    LoomClientError,
    NotFound,
    RateLimited,
    RequestRefused,
    StoreFailed,
    TransportError,
    Unauthenticated,
    Unavailable,
    UnexpectedAnswer,
)
from loom_client.exchange import Broken, Got, Pause, Post, Session, exchange
from loom_client.requests import call_of
from loom_client.retry import RetryPolicy

READ = wire.MemoryGetRequest(memory_key="k")
WRITE = wire.MemorySetRequest(memory_key="k", value="v")
FOUND = Got(200, {}, b'{"found": false, "from_the_future": [1]}')
STORED = Got(
    200,
    {},
    b'{"memory_key": "k", "version": 1, "memory_id": "m", "content_sha256": "s", "status": "live", "noop": false,'
    b' "dry_run": false, "degraded": []}',
)
REFUSED = Broken("cannot be reached", sent=False, timed_out=False)
RESET = Broken("broke off", sent=True, timed_out=False)
LATE = Broken("did not answer in time", sent=True, timed_out=True)


def problem(status: int, code: str, category: str, retryable: bool, **members: Any) -> Got:
    """An error of the service."""
    detail = {"code": code, "message": "Told.", "category": category, "retryable": retryable, **members}
    return Got(status, {}, json.dumps({"detail": detail}).encode())


STARTING = problem(503, "not_ready", "availability", True, retry_after_s=2.0)
LIMITED = problem(429, "rate_limited", "availability", True, retry_after_s=3.0)
CONFLICT = problem(409, "conflict", "request", False)
NO_KEYS = problem(
    400, "not_supported", "request", False, errors=[{"path": "Idempotency-Key", "message": "is not built"}]
)
PROXY = Got(502, {"content-type": "text/html"}, b"<html>")


class Run:
    """One conversation, its posts and its pauses. `chance` is a half, so the first pause is 50 ms."""

    def __init__(self, **session: Any) -> None:
        self.clock = 0.0
        self.posts: list[Post] = []
        self.pauses: list[float] = []
        self.session = Session(**{"policy": RetryPolicy(), **session}, now=lambda: self.clock, chance=lambda: 0.5)

    def call(self, request: Any, answers: Sequence[Got | Broken], took: float = 0.0) -> wire.Answer:
        kind = wire.MemoryGetResponse if request is READ else wire.MemorySetResponse
        talk = exchange(call_of(request, kind, 35.0, None), self.session)
        left, came = list(answers), None
        try:
            while True:
                step = talk.send(came)
                if isinstance(step, Pause):
                    self.pauses.append(step.seconds)
                    self.clock += step.seconds
                    came = None
                else:
                    self.posts.append(step)
                    self.clock += took
                    came = left.pop(0)
        except StopIteration as end:
            assert left == []
            return end.value


def keys(run: Run) -> set[str | None]:
    return {post.headers.get("Idempotency-Key") for post in run.posts}


def test_an_answer_of_a_newer_service_is_read_past_what_is_unknown() -> None:
    run = Run()
    assert run.call(READ, [FOUND]) == wire.MemoryGetResponse(found=False)
    (post,) = run.posts
    assert (post.path, post.body, post.timeout_s) == ("/v1/memory.get", b'{"memory_key":"k"}', 35.0)
    assert keys(run) == {None}


@pytest.mark.parametrize("fault", [REFUSED, RESET, LATE, STARTING, LIMITED, PROXY])
@pytest.mark.parametrize(("request_", "answer"), [(READ, FOUND), (WRITE, STORED)])
def test_what_may_pass_is_tried_again_under_one_id_and_one_key(fault: Any, request_: Any, answer: Got) -> None:
    run = Run()
    run.call(request_, [fault, answer])
    assert len(run.posts) == 2
    assert len({post.headers["X-Request-ID"] for post in run.posts}) == 1
    assert len(keys(run)) == 1
    assert (None in keys(run)) == (request_ is READ)


@pytest.mark.parametrize("fault", [RESET, LATE, STARTING, PROXY])
def test_without_a_key_a_write_that_may_have_arrived_is_not_sent_again(fault: Any) -> None:
    run = Run(keys_known=False)
    with pytest.raises(LoomClientError):
        run.call(WRITE, [fault])
    assert keys(run) == {None}


@pytest.mark.parametrize("fault", [REFUSED, LIMITED])
def test_without_a_key_a_write_that_was_not_begun_is_sent_again(fault: Any) -> None:
    run = Run(keys_known=False)
    run.call(WRITE, [fault, STORED])
    assert len(run.posts) == 2


def test_a_service_that_knows_no_keys_gets_none_from_then_on() -> None:
    run = Run()
    run.call(WRITE, [NO_KEYS, STORED])
    assert [post.headers.get("Idempotency-Key") is None for post in run.posts] == [False, True]
    with pytest.raises(TransportError):
        run.call(WRITE, [RESET])
    assert run.posts[-1].headers.get("Idempotency-Key") is None


@pytest.mark.parametrize(
    ("status", "code", "category", "kind"),
    [
        (422, "invalid_input", "request", RequestRefused),
        (404, "not_found", "request", NotFound),
        (409, "conflict", "request", Conflict),
        (401, "unauthenticated", "request", Unauthenticated),
        (500, "internal", "internal", InternalFailure),
        (503, "statement_failed", "store", StoreFailed),
        (418, "new", "new", ApiError),
    ],
)
def test_a_refusal_is_told_at_once_and_by_its_kind(status: int, code: str, category: str, kind: type[ApiError]) -> None:
    run = Run()
    with pytest.raises(ApiError) as caught:
        run.call(READ, [problem(status, code, category, False, request_id="abc")])
    assert type(caught.value) is kind
    assert (caught.value.code, caught.value.status, caught.value.request_id) == (code, status, "abc")
    assert str(caught.value) == "Told. (request abc)"


def test_an_error_without_an_id_carries_the_one_that_was_sent() -> None:
    run = Run()
    with pytest.raises(Conflict) as caught:
        run.call(READ, [CONFLICT])
    assert caught.value.request_id == run.posts[0].headers["X-Request-ID"]


def test_attempts_are_counted_and_the_last_error_is_raised() -> None:
    run = Run(policy=RetryPolicy(attempts=3))
    with pytest.raises(TransportError, match="broke off") as caught:
        run.call(READ, [REFUSED, REFUSED, RESET])
    assert run.pauses == pytest.approx([0.05, 0.1])
    assert caught.value.sent


def test_retry_after_is_waited_for() -> None:
    run = Run()
    run.call(READ, [STARTING, FOUND])
    assert run.pauses == pytest.approx([2.05])


def test_no_attempt_begins_after_the_total_and_the_last_one_is_given_what_is_left() -> None:
    run = Run(policy=RetryPolicy(attempts=9, total_s=50.0))
    with pytest.raises(TransportError):
        run.call(READ, [LATE, LATE], took=35.0)
    assert [post.timeout_s for post in run.posts] == pytest.approx([35.0, 14.95])


def test_a_retry_after_beyond_the_total_is_not_waited_for() -> None:
    run = Run()
    with pytest.raises(Unavailable) as caught:
        run.call(READ, [problem(503, "not_ready", "availability", True, retry_after_s=61.0)])
    assert (caught.value.retry_after_s, run.pauses) == (61.0, [])


def test_a_429_holds_the_other_calls_of_the_client_too() -> None:
    run = Run(policy=RetryPolicy(attempts=1))
    with pytest.raises(RateLimited):
        run.call(READ, [LIMITED])
    run.call(READ, [FOUND])
    assert run.pauses == pytest.approx([3.0])


def test_a_call_that_would_wait_longer_than_it_may_is_not_sent() -> None:
    run = Run(policy=RetryPolicy(attempts=1, total_s=2.0))
    with pytest.raises(RateLimited):
        run.call(READ, [LIMITED])
    with pytest.raises(RateLimited, match="Not sent") as caught:
        run.call(READ, [])
    assert caught.value.retry_after_s == pytest.approx(3.0)
    assert len(run.posts) == 1


@pytest.mark.parametrize(("told", "pause"), [("3", 3.0), ("soon", 1.0), ("nan", 1.0), ("-1", 1.0)])
def test_the_429_of_a_proxy_is_read_by_its_header(told: str, pause: float) -> None:
    run = Run(policy=RetryPolicy(attempts=1))
    with pytest.raises(RateLimited):
        run.call(READ, [Got(429, {"retry-after": told}, b"slow down")])
    run.call(READ, [FOUND])
    assert run.pauses == pytest.approx([pause])


@pytest.mark.parametrize(
    "got", [Got(200, {"content-type": "text/html"}, b"<html>"), Got(302, {}, b""), Got(404, {}, b"no")]
)
def test_an_answer_of_somebody_else_is_named_as_such(got: Got) -> None:
    with pytest.raises(UnexpectedAnswer, match="is not Loom's") as caught:
        Run().call(READ, [got])
    assert caught.value.status == got.status
