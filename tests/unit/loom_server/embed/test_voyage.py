"""What is sent by Voyage's wire, and what is missing or told of the model."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from embedding_server import KEY, EmbeddingServer, embedding_server
from loom_server.embed.voyage import voyage_embedder
from loom_server.errors import ConfigError
from loom_server.settings import Settings


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


def test_the_request_says_its_role_and_cuts(server: EmbeddingServer) -> None:
    embedder = voyage_embedder(server.settings("voyage"))
    embedder.passages(["red house", "blue door"])
    embedder.query("green roof")
    passages, query = (dict(asked.body) for asked in server.asked)
    assert passages == {
        "model": "voyage-4",
        "input": ["red house", "blue door"],
        "input_type": "document",
        "truncation": True,
        "encoding_format": "base64",
        "output_dimension": 256,
    }
    assert query == {**passages, "input": ["green roof"], "input_type": "query"}


def test_the_input_types_stand_for_prefixes(server: EmbeddingServer) -> None:
    identity = voyage_embedder(server.settings("voyage")).identity
    assert (identity.query_prefix, identity.passage_prefix) == ("query", "document")
    assert identity.name == "voyage:voyage-4:256:1"


@pytest.mark.parametrize(
    ("model", "dimension", "sent", "name", "asked"),
    [
        ("", 0, None, "voyage:voyage-4:1024:1", 0),
        ("voyage-3", 1024, None, "voyage:voyage-3:1024:1", 0),
        ("voyage-4", 512, 512, "voyage:voyage-4:512:1", 0),
        ("voyage-of-tomorrow", 0, None, "voyage:voyage-of-tomorrow:640:1", 1),
    ],
)
def test_a_dimension_is_known_given_or_asked_for(
    server: EmbeddingServer, model: str, dimension: int, sent: int | None, name: str, asked: int
) -> None:
    embedder = voyage_embedder(server.settings("voyage", embedder_model=model, embedder_dimension=dimension))
    assert (embedder.identity.name, len(server.asked)) == (name, asked)
    embedder.query("red house")
    assert server.asked[-1].body.get("output_dimension") == sent


def test_a_request_holds_what_the_api_takes(server: EmbeddingServer) -> None:
    voyage_embedder(server.settings("voyage", embedder_batch=500)).passages([f"text {n}" for n in range(130)])
    assert sorted(len(asked.texts) for asked in server.asked) == [2, 128]


def test_a_key_of_the_sdks_own_variable_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    with pytest.raises(ConfigError, match="set LOOM_EMBEDDER_API_KEY"):
        voyage_embedder(Settings.model_validate({"embedder": "voyage"}))


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "voyageai", None)
    with pytest.raises(ConfigError, match=r'pip install "loom-recall\[voyage\]"'):
        voyage_embedder(Settings.model_validate({"embedder": "voyage", "embedder_api_key": KEY}))
