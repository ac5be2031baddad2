"""What is sent by Cohere's wire, and what is missing or told of the model."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from embedding_server import KEY, EmbeddingServer, embedding_server
from loom_server.embed.cohere import cohere_embedder
from loom_server.errors import ConfigError
from loom_server.settings import Settings


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


def test_the_request_says_its_role_and_cuts_at_the_end(server: EmbeddingServer) -> None:
    embedder = cohere_embedder(server.settings("cohere"))
    embedder.passages(["red house", "blue door"])
    embedder.query("green roof")
    passages, query = (dict(asked.body) for asked in server.asked)
    assert passages == {
        "model": "embed-v4.0",
        "texts": ["red house", "blue door"],
        "input_type": "search_document",
        "embedding_types": ["base64"],
        "truncate": "END",
        "output_dimension": 256,
    }
    assert query == {**passages, "texts": ["green roof"], "input_type": "search_query"}


def test_the_input_types_stand_for_prefixes(server: EmbeddingServer) -> None:
    identity = cohere_embedder(server.settings("cohere", embedder_query_prefix="q: ")).identity
    assert (identity.query_prefix, identity.passage_prefix) == ("search_query", "search_document")
    assert identity.name == "cohere:embed-v4.0:256:1"


@pytest.mark.parametrize(
    ("model", "dimension", "sent", "name", "asked"),
    [
        ("", 0, None, "cohere:embed-v4.0:1536:1", 0),
        ("embed-english-v3.0", 0, None, "cohere:embed-english-v3.0:1024:1", 0),
        ("embed-of-tomorrow", 320, 320, "cohere:embed-of-tomorrow:320:1", 0),
        ("embed-of-tomorrow", 0, None, "cohere:embed-of-tomorrow:640:1", 1),
    ],
)
def test_a_dimension_is_known_given_or_asked_for(
    server: EmbeddingServer, model: str, dimension: int, sent: int | None, name: str, asked: int
) -> None:
    embedder = cohere_embedder(server.settings("cohere", embedder_model=model, embedder_dimension=dimension))
    assert (embedder.identity.name, len(server.asked)) == (name, asked)
    embedder.query("red house")
    assert server.asked[-1].body.get("output_dimension") == sent


def test_a_request_holds_what_the_api_takes(server: EmbeddingServer) -> None:
    cohere_embedder(server.settings("cohere", embedder_batch=500)).passages([f"text {n}" for n in range(100)])
    assert sorted(len(asked.texts) for asked in server.asked) == [4, 96]


def test_numbers_that_come_as_numbers_are_read_too(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = cohere_embedder(server.settings("cohere"))
    coded = embedder.passages(["red house", "blue door"])
    monkeypatch.setitem(sys.modules["embedding_server"]._SHAPES, "cohere", numbers)
    assert embedder.passages(["red house", "blue door"]) == pytest.approx(coded, abs=1e-6)


def numbers(rows, body):
    """As servers answer that know no base64."""
    return {"id": "local", "embeddings": {"float": rows.tolist()}}


def test_a_key_is_needed() -> None:
    with pytest.raises(ConfigError, match="set LOOM_EMBEDDER_API_KEY"):
        cohere_embedder(Settings.model_validate({"embedder": "cohere"}))


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cohere", None)
    with pytest.raises(ConfigError, match=r'pip install "loom-recall\[cohere\]"'):
        cohere_embedder(Settings.model_validate({"embedder": "cohere", "embedder_api_key": KEY}))
