"""Every example of the wire pages does what the page says, against the real services behind the real doors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from doors import client_of
from loom_client import wire
from loom_server.service.services import Services
from pages import Example, differences, examples, text_of

PAGES = ["wire/index.md", "wire/memory.md", "wire/search.md", "wire/namespace.md", "wire/ops.md"]


@pytest.fixture
def client(services: Services) -> Iterator[TestClient]:
    """The doors over the services of this test process."""
    with client_of(services) as opened:
        yield opened


def send(client: TestClient, example: Example, org: str) -> Any:
    """Make the example's call in an org of its own."""
    sent = dict(example.sent)
    if example.path == "/rpc":
        sent["params"] = {**sent["params"], "org": org} if sent["method"].startswith("memory.get") else sent["params"]
    elif "/ops." not in example.path:
        sent["org"] = org
    answer = client.post(example.path, json=sent)
    assert answer.status_code == example.status, answer.text
    return answer.json()


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run_one_after_the_other(client: TestClient, org: str, page: str) -> None:
    found = examples(text_of(page))
    assert found
    for example in found:
        answer = send(client, example, org)
        assert list(differences(example.answer, answer, example.partial, example.path)) == []


def test_every_operation_has_an_example() -> None:
    shown = {example.path.removeprefix("/v1/") for page in PAGES for example in examples(text_of(page))}
    assert set(wire.CONTRACTS) <= shown


def test_every_call_that_a_page_shows_is_read_as_an_example() -> None:
    for page in PAGES:
        text = text_of(page)
        assert len(examples(text)) == sum(line.startswith("`POST ") for line in text.splitlines()), page


@pytest.mark.parametrize(
    ("shown", "real", "partial"),
    [
        ({"a": 1}, {"a": 2}, True),
        ({"a": 1}, {"b": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": [1]}, {"a": [1, 2]}, True),
        ({"a": 0.5}, {"a": 0.6}, True),
        ({"a": 1}, {"a": True}, True),
    ],
)
def test_a_difference_is_told(shown: Any, real: Any, partial: bool) -> None:
    assert list(differences(shown, real, partial))
