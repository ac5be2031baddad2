"""What a namespace prefers, changed by several at once and beside a write."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from loom_client import wire
from loom_server.errors import Conflict
from loom_server.model.deadline import Deadline
from loom_server.service.services import Services
from spaces import SECONDS, Space
from writing import a_draft


@pytest.fixture
def space(services: Services, org: str) -> Space:
    return Space(services, org)


def read(space: Space) -> wire.NamespaceResponse:
    request = wire.NamespaceGetRequest.model_validate(space.tenant)
    return space.services.namespace_get(request, Deadline(SECONDS))


def test_changes_at_once_lose_nothing_of_each_other(space: Space) -> None:
    changes: list[dict[str, object]] = [{"search_mode": "rrf"}, {"top_k": 3}, {"floor_mode": "drop"}]
    with ThreadPoolExecutor(3) as threads:
        for number in range(10):
            other = space.other(namespace=f"n{number}")
            list(threads.map(lambda change, here=other: here.prefer(retrieval_defaults=change), changes))
            kept = read(other).retrieval_defaults
            assert (kept.search_mode, kept.top_k, kept.floor_mode) == ("rrf", 3, "drop")


def test_a_language_waits_for_the_first_write_which_read_the_one_before(space: Space) -> None:
    services, tenant = space.services, (space.tenant["org"], space.tenant["namespace"])
    with ThreadPoolExecutor(1) as threads:
        with services.turnstile.passing(tenant, Deadline(SECONDS)):
            setting: Future[wire.NamespaceResponse] = threads.submit(space.prefer, language="de")
            with pytest.raises(TimeoutError):
                setting.result(0.2)
            services.writer.write([a_draft(tenant[0], namespace=tenant[1])], Deadline(SECONDS), "en")
        with pytest.raises(Conflict, match="language"):
            setting.result(SECONDS)
    assert read(space).language == "en"


def test_a_write_after_the_language_is_analysed_by_it(space: Space) -> None:
    with ThreadPoolExecutor(4) as threads:
        for number in range(5):
            other = space.other(namespace=f"n{number}")
            setting = threads.submit(other.prefer, language="de")
            writing = threads.submit(other.set, "k", "Die Häuser stehen am Fluss")
            assert writing.result(SECONDS).version == 1
            german = setting.exception(SECONDS) is None
            assert read(other).language == ("de" if german else "en")
            assert other.keys("Haus", search_mode="lexical") == (["k"] if german else [])
