"""What every remote embedder makes of an endpoint that goes wrong, by its own SDK over a real socket."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from embedding_server import KEY, REMOTE, SECRET_KEY, EmbeddingServer, embedding_server
from loom_server.embed import caller
from loom_server.embed.base import Embedder
from loom_server.embed.choose import EMBEDDERS
from loom_server.errors import EmbedError
from loom_server.model.deadline import Deadline


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


@pytest.fixture(params=REMOTE)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pauses between attempts."""
    monkeypatch.setattr(caller, "PAUSES_S", (0.0, 0.0))


def made(server: EmbeddingServer, name: str, **more: object) -> Embedder:
    return EMBEDDERS[name](server.settings(name, **more))


@pytest.mark.parametrize(
    ("kind", "how", "told", "attempts"),
    [
        ("drop", {}, "cannot be reached", 3),
        ("slow", {"seconds": 0.6}, "did not answer in time", 3),
        ("html", {}, "something else than a vector for each text", 1),
        ("list", {}, "something else than a vector for each text", 1),
        ("nan", {}, "NaN or infinity|something else than a vector", 1),
        ("dimension", {}, "vectors of 255 numbers, not of 256", 1),
        ("count", {}, "something else than a vector|vectors of 0 numbers", 1),
        ("status", {"status": 400}, "refused the request", 1),
        ("status", {"status": 401}, "denied the request", 1),
        ("status", {"status": 403}, "denied the request", 1),
        ("status", {"status": 404}, "does not know the model", 1),
        ("status", {"status": 429}, "takes no more requests", 3),
        ("status", {"status": 500}, r"failed \(HTTP 500\)", 3),
        ("status", {"status": 503}, r"failed \(HTTP 503\)", 3),
    ],
)
def test_it_fails_in_its_own_words_and_recovers(
    server: EmbeddingServer, name: str, kind: str, how: dict[str, object], told: str, attempts: int
) -> None:
    embedder = made(server, name, embedder_timeout_s=0.3 if kind == "slow" else 10)
    server.order(kind, **how)
    with pytest.raises(EmbedError, match=told):
        embedder.query("red house")
    assert len(server.asked) == attempts
    server.order("fine")
    assert embedder.query("red house").any()


@pytest.mark.parametrize("status", [429, 500, 503])
def test_two_failures_that_pass_are_not_seen(server: EmbeddingServer, name: str, status: int) -> None:
    server.order("status", status=status, times=2, headers={"Retry-After": "0"})
    assert made(server, name).query("red house").any()
    assert len(server.asked) == 3


def test_the_wait_that_an_endpoint_asks_for_is_kept_to(server: EmbeddingServer, name: str) -> None:
    server.order("status", status=429, times=1, headers={"Retry-After": "0.3"})
    assert made(server, name).query("red house").any()
    first, second = (asked.at for asked in server.asked)
    assert second - first >= 0.3


def test_an_endpoint_that_is_not_there(name: str) -> None:
    with embedding_server() as gone:
        embedder = made(gone, name)
    with pytest.raises(EmbedError, match="cannot be reached"):
        embedder.query("red house")


def test_a_slow_endpoint_leaves_time_for_the_words(server: EmbeddingServer, name: str) -> None:
    server.order("slow", seconds=3.0)
    embedder = made(server, name)
    deadline = Deadline(2.0)
    with pytest.raises(EmbedError):
        embedder.query("red house", deadline=deadline)
    deadline.check()


def test_no_secret_is_told(
    server: EmbeddingServer, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # The service logs other libraries from here up; what Voyage's SDK says below it repeats the endpoint's words.
    caplog.set_level(logging.WARNING)
    given = server.settings(name)
    secret = SECRET_KEY[::-1] if name == "bedrock" else KEY[::-1]
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    if name != "bedrock":
        given = server.settings(name, embedder_api_key=secret)
    embedder = EMBEDDERS[name](given)
    with pytest.raises(EmbedError, match="denied") as told:
        embedder.query("red house")
    assert secret not in "".join([str(told.getrepr(chain=True)), repr(given), repr(embedder), caplog.text])
