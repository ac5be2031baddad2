"""A client of the doors over the process's real services."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from doors import client_of
from loom_server.service.services import Services


@pytest.fixture(scope="session")
def client(services: Services) -> Iterator[TestClient]:
    """HTTP in process, down to the embedded engine."""
    with client_of(services) as opened:
        yield opened
