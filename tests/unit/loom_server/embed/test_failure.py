"""Failures: their kinds by status, what may be tried again, and how long an endpoint asks to wait."""

from __future__ import annotations

from email.utils import formatdate
from time import time
from typing import get_args

import pytest

from loom_server.embed.failure import AGAIN, COUNTS, Failure, Kind, of_status, wait_of
from loom_server.observe.labels import EMBED_OUTCOMES

KINDS: tuple[Kind, ...] = get_args(Kind)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "refused"), (401, "denied"), (403, "denied"), (404, "denied"), (408, "failed"), (409, "failed"),
        (413, "refused"), (422, "refused"), (425, "failed"), (429, "limited"), (500, "failed"), (503, "failed"),
        (529, "failed"),
    ],
)  # fmt: skip
def test_a_status_tells_the_kind(status: int, kind: Kind) -> None:
    assert of_status(status, None) == Failure(kind, status)


def test_what_may_pass_is_tried_again_and_what_is_the_texts_fault_does_not_count() -> None:
    assert {kind for kind in KINDS if Failure(kind).again} == AGAIN == set(KINDS) - {"denied", "refused", "junk"}
    assert {kind for kind in KINDS if Failure(kind).counts} == COUNTS == set(KINDS) - {"refused", "junk"}


def test_the_metrics_know_every_kind() -> None:
    assert set(EMBED_OUTCOMES) == {"ok", *KINDS}


@pytest.mark.parametrize(("told", "seconds"), [("7", 7.0), (" 1.5 ", 1.5), ("0", 0.0), ("", None), ("soon", None),
                                               ("-3", None), ("9" * 400, float("inf"))])  # fmt: skip
def test_seconds_to_wait(told: str, seconds: float | None) -> None:
    assert wait_of({"retry-AFTER": told}) == seconds


def test_a_date_to_wait_for() -> None:
    assert 50 < (wait_of({"Retry-After": formatdate(time() + 60, usegmt=True)}) or 0) <= 60
    assert wait_of({"Retry-After": formatdate(time() - 60, usegmt=True)}) == 0.0


def test_only_a_busy_endpoint_is_asked_when_to_come_again() -> None:
    headers = {"Retry-After": "3"}
    assert [of_status(status, headers).after_s for status in (429, 503, 401)] == [3.0, 3.0, None]


def test_a_sentence_names_the_status_and_the_setting() -> None:
    assert "LOOM_EMBEDDER_API_KEY" in Failure("denied", 401).sentence()
    assert Failure("denied", 401).sentence().endswith("(HTTP 401)")
    assert "LOOM_EMBEDDER_MODEL" in Failure("denied", 404).sentence()
    assert len({Failure(kind).sentence() for kind in KINDS}) == len(KINDS)
