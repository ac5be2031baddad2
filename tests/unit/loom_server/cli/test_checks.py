"""What the doctor says of an embedder: whether it can be made and works now, with the mend and without the key."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from embedding_server import KEY, EmbeddingServer, embedding_server
from loom_client import wire
from loom_server.cli.checks import MEND_EMBEDDER, chosen, served
from loom_server.embed import caller
from loom_server.settings import Settings
from loom_server.store.lock import Owner


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


@pytest.mark.parametrize("name", ["hash", "static"])
def test_a_local_embedder_is_well(name: str) -> None:
    check = chosen(Settings.model_validate({"embedder": name}))
    assert (check.ok, check.mend) == (True, "")


def test_a_remote_one_is_asked(server: EmbeddingServer) -> None:
    check = chosen(server.settings("openai"))
    assert (check.ok, check.detail) == (True, "openai:text-embedding-3-small:256:1 embeds")
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("kind", "how", "told"),
    [("drop", {}, "cannot be reached"), ("status", {"status": 401}, "check LOOM_EMBEDDER_API_KEY")],
)
def test_one_that_does_not_answer_is_told_with_what_to_check(
    server: EmbeddingServer, kind: str, how: dict[str, object], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caller, "PAUSES_S", (0.0, 0.0))
    server.order(kind, **how)
    check = chosen(server.settings("openai"))
    assert (check.ok, check.mend) == (False, MEND_EMBEDDER)
    assert told in check.detail
    assert KEY not in repr(check)


def test_one_that_cannot_be_made_is_told_with_the_setting() -> None:
    check = chosen(Settings.model_validate({"embedder": "bedrock", "embedder_dimension": 3}))
    assert not check.ok
    assert "LOOM_EMBEDDER_DIMENSION" in check.detail


def test_a_running_servers_embedder_is_not_mended_by_stopping_the_server() -> None:
    failed = {name: wire.HealthCheck(name=name, ok=False, detail="down") for name in ("store", "embedder")}
    told = wire.OpsHealthResponse.model_construct(
        checks=tuple(failed.values()), embedding_model="m", stale_rows=0, status="failed"
    )
    mends = {check.name: check.mend for check in served(Owner(7, "now", "http://127.0.0.1:1"), told)}
    assert mends["embedder"] == MEND_EMBEDDER
    assert mends["store"] == "kill 7 && loom doctor"
