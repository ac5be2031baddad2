"""Health: alive before ready, ready only when the services are, each saying why not."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from doors import ADDRESS, DETAIL, DOORS, HEALTHY, MINIMAL, StandIn, client_of
from loom_client import wire
from loom_server.api.app import create_app
from loom_server.api.startup import Startup
from loom_server.errors import StoreLocked
from loom_server.observe.stages import Stages
from loom_server.settings import Settings

READY = ("/health/ready", "/v1/health")
FAILED = wire.OpsHealthResponse(
    status="failed",
    version="1",
    schema_version=0,
    embedding_model="m",
    uptime_s=1.0,
    checks=(
        wire.HealthCheck(name="store", ok=False, detail="does not answer"),
        wire.HealthCheck(name="embedder", ok=True, detail="answers"),
    ),
    stale_rows=None,
    reembedding="idle",
)


class Closable(StandIn):
    """Services that can be closed, and are well."""

    def __init__(self) -> None:
        super().__init__(lambda request, deadline: HEALTHY)

    def close(self) -> None:
        pass


def test_a_running_service_is_alive_and_ready(client: TestClient) -> None:
    assert client.get("/health/live").json() == {"status": "live"}
    assert client.get("/health/startup").json() == {"status": "started", "ms": {}}
    for path in READY:
        answer = client.get(path)
        assert answer.status_code == 200
        told = wire.OpsHealthResponse.model_validate(answer.json())
        assert (told.status, [check.ok for check in told.checks]) == ("ok", [True] * len(told.checks))
        assert told.checks


@pytest.fixture(scope="module")
def starting() -> Iterator[TestClient]:
    """A client of a service that is still starting."""
    with client_of(None) as opened:
        yield opened


def test_a_starting_service_is_alive_and_not_ready(starting: TestClient) -> None:
    assert starting.get("/health/live").status_code == 200
    assert starting.get("/health/startup").json()["startup"] == {"status": "starting", "ms": {}}
    for path in READY:
        answer = starting.get(path)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
        assert set(answer.json()["detail"]) == DETAIL
        assert answer.json()["detail"]["code"] == "not_ready"


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", wire.CONTRACTS)
def test_a_starting_service_tells_so_of_every_operation(starting: TestClient, name: str, door: str) -> None:
    told = DOORS[door](starting, name, MINIMAL[name])
    assert (told.error["code"], told.error["retryable"], told.error["retry_after_s"]) == ("not_ready", True, 1.0)
    assert told.rpc_code == (-32008 if door == "rpc" else None)


def test_ready_follows_the_start() -> None:
    services: list[Any] = [None]
    app = create_app(lambda: services[0], Settings())
    with TestClient(app, "http://localhost:7777") as client:
        assert client.get("/health/ready").status_code == 503
        services[0] = StandIn(lambda request, deadline: HEALTHY)
        assert client.get("/health/ready").status_code == 200


def test_the_start_is_told_by_its_stages() -> None:
    go, inside, stages = threading.Event(), threading.Event(), Stages()

    def build() -> Any:
        with stages.during("store"):
            pass
        with stages.during("migrate"):
            inside.set()
            assert go.wait(10)
        return Closable()

    startup = Startup(build, lambda: None, stages)
    app = create_app(startup.current, Settings(), progress=startup.progress)
    with TestClient(app, "http://localhost:7777") as client:
        startup.begin()
        assert inside.wait(10)
        answer = client.get("/health/startup")
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
        told = wire.StartProblem.model_validate(answer.json())
        assert (told.detail.code, told.startup.stage, list(told.startup.ms)) == ("not_ready", "migrate", ["store"])
        assert told.detail.message.startswith("The service is starting; the stage 'migrate' has run for ")
        assert told.detail.request_id == answer.headers["X-Request-ID"]
        go.set()
        startup.end()
        answer = client.get("/health/startup")
        assert answer.status_code == 200
        done = wire.StartProgress.model_validate(answer.json())
        assert (done.status, done.stage, list(done.ms)) == ("started", None, ["store", "migrate"])
        startup.stop()
        assert client.get("/health/startup").status_code == 200
        assert client.get("/health/ready").status_code == 503


def test_a_start_that_failed_shows_its_code_and_its_stage() -> None:
    stages = Stages()

    def build() -> Any:
        with stages.during("store"):
            raise StoreLocked("Process 12 owns the directory.")

    startup = Startup(build, lambda: None, stages)
    startup.begin()
    startup.end()
    with TestClient(create_app(startup.current, Settings(), progress=startup.progress), ADDRESS) as client:
        answer = client.get("/health/startup")
    assert (answer.status_code, answer.json()["detail"]["code"]) == (503, "store_locked")
    assert answer.json()["startup"]["status"] == "failed"
    assert answer.json()["startup"]["stage"] == "store"


def test_a_service_that_could_not_start_says_why() -> None:
    def provider() -> None:
        raise StoreLocked("Process 12 owns the directory.")

    with TestClient(create_app(provider, Settings()), "http://localhost:7777") as client:
        for path in READY:
            assert client.get(path).json()["detail"]["code"] == "store_locked"
        assert client.get("/health/live").status_code == 200
        answer = client.get("/health/startup")
        assert (answer.status_code, answer.json()["detail"]["code"]) == (503, "store_locked")


@pytest.mark.parametrize("path", READY)
def test_a_failed_check_is_named(path: str) -> None:
    with client_of(StandIn(lambda request, deadline: FAILED)) as client:
        answer = client.get(path)
        assert answer.status_code == 503
        assert answer.json()["detail"]["message"] == "The service cannot be used: store: does not answer."


@pytest.mark.parametrize("path", READY)
def test_a_service_that_serves_with_less_is_ready(path: str) -> None:
    degraded = HEALTHY.model_copy(update={"status": "degraded"})
    with client_of(StandIn(lambda request, deadline: degraded)) as client:
        assert client.get(path).status_code == 200
