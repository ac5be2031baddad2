"""Health: alive before ready, ready only when the services are, each saying why not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from doors import DETAIL, DOORS, HEALTHY, MINIMAL, StandIn, client_of
from loom_client import wire
from loom_server.api.app import create_app
from loom_server.errors import StoreLocked
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
)


def test_a_running_service_is_alive_and_ready(client: TestClient) -> None:
    assert client.get("/health/live").json() == {"status": "live"}
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


def test_a_service_that_could_not_start_says_why() -> None:
    def provider() -> None:
        raise StoreLocked("Process 12 owns the directory.")

    with TestClient(create_app(provider, Settings()), "http://localhost:7777") as client:
        for path in READY:
            assert client.get(path).json()["detail"]["code"] == "store_locked"
        assert client.get("/health/live").status_code == 200


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
