"""A command's own services are bounded as a server's are."""

from __future__ import annotations

from typing import Any

import pytest

from loom_client import wire
from loom_server.api.call import Calls
from loom_server.api.operations import OPERATIONS
from loom_server.cli.door import Door, LocalServices, request_of
from loom_server.cli.questions import further_fields
from loom_server.cli.write import value_of
from loom_server.errors import InvalidInput, InvalidJson, TooLarge
from loom_server.service.services import Services
from loom_server.settings import Settings


def nested(depth: int) -> Any:
    """Lists inside each other."""
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


def a_set(org: str, value: Any) -> wire.MemorySetRequest:
    request = request_of("memory.set", {"org": org, "memory_key": "k", "value": value})
    assert isinstance(request, wire.MemorySetRequest)
    return request


@pytest.mark.parametrize("depth", [31, 32])
def test_nesting_is_bounded_as_it_is_behind_http(services: Services, org: str, depth: int) -> None:
    request = a_set(org, nested(depth))
    told: list[str] = []
    for call in (
        lambda: Door(LocalServices(services, Settings())).set(request),
        lambda: Calls(lambda: services, Settings()).validated(
            OPERATIONS["memory.set"], request.model_dump(exclude_unset=True)
        ),
    ):
        try:
            call()
        except TooLarge as error:
            told.append(error.message)
    assert told == ([] if depth == 31 else ["The request is nested deeper than 32 levels."] * 2)


def test_nesting_beyond_all_measure_is_refused_too(org: str) -> None:
    with pytest.raises(InvalidInput, match="is nested too deeply"):
        a_set(org, nested(400))


def test_a_body_is_bounded(services: Services, org: str) -> None:
    request = a_set(org, "x" * 2_000)
    size = len(request.model_dump_json(exclude_unset=True))
    assert Door(LocalServices(services, Settings(max_body_bytes=size))).set(request).version == 1
    with pytest.raises(TooLarge, match=f"{size - 1} bytes"):
        Door(LocalServices(services, Settings(max_body_bytes=size - 1))).set(request)


@pytest.mark.parametrize("value", ["18446744073709551616", '{"a": [-9223372036854775809]}'])
def test_a_number_that_would_be_rounded_is_refused(value: str) -> None:
    for read in (lambda: value_of(value, parse=True), lambda: further_fields([f"metadata={value}"])):
        with pytest.raises(InvalidJson, match="64 bits"):
            read()
    assert value_of(value, parse=False) == value
