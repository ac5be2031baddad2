"""What is sent by OpenAI's wire, and what is missing or told of the model."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from embedding_server import KEY, EmbeddingServer, embedding_server
from loom_server.embed.openai import openai_embedder
from loom_server.errors import ConfigError
from loom_server.settings import Settings


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


def test_the_request_is_the_sdks_own(server: EmbeddingServer) -> None:
    openai_embedder(server.settings("openai")).passages(["red house", "blue door"])
    (asked,) = server.asked
    assert asked.body == {
        "model": "text-embedding-3-small",
        "input": ["red house", "blue door"],
        "dimensions": 256,
        "encoding_format": "base64",
    }


def test_prefixes_stand_before_the_text(server: EmbeddingServer) -> None:
    given = {"embedder_query_prefix": "query: ", "embedder_passage_prefix": "passage: "}
    embedder = openai_embedder(server.settings("openai", **given))
    embedder.query("red house")
    embedder.passages(["blue door"])
    assert server.texts == ["query: red house", "passage: blue door"]
    assert embedder.identity.query_prefix == "query: "
    assert embedder.identity.name != openai_embedder(server.settings("openai")).identity.name


@pytest.mark.parametrize(
    ("model", "dimension", "sent", "name"),
    [
        ("", 0, None, "openai:text-embedding-3-small:1536:1"),
        ("text-embedding-3-large", 0, None, "openai:text-embedding-3-large:3072:1"),
        ("text-embedding-3-large", 3072, None, "openai:text-embedding-3-large:3072:1"),
        ("text-embedding-3-large", 512, 512, "openai:text-embedding-3-large:512:1"),
        ("nomic-embed-text:v1.5", 768, None, "openai:nomic-embed-text@v1.5:768:1"),
    ],
)
def test_a_dimension_is_asked_of_models_that_have_a_choice(
    server: EmbeddingServer, model: str, dimension: int, sent: int | None, name: str
) -> None:
    given = server.settings("openai", embedder_model=model, embedder_dimension=dimension)
    embedder = openai_embedder(given)
    assert embedder.identity.name == name
    assert server.asked == []
    embedder.query("red house")
    assert server.asked[0].body.get("dimensions") == sent


def test_a_key_is_needed_unless_an_address_is_given() -> None:
    with pytest.raises(ConfigError, match="set LOOM_EMBEDDER_API_KEY"):
        openai_embedder(Settings.model_validate({"embedder": "openai"}))
    own = {"embedder": "openai", "embedder_base_url": "http://127.0.0.1:1/v1"}
    assert openai_embedder(Settings.model_validate(own)).identity.dimension == 1536


def test_numbers_that_come_as_numbers_are_read_too(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = openai_embedder(server.settings("openai"))
    coded = embedder.passages(["red house", "blue door"])
    monkeypatch.setitem(sys.modules["embedding_server"]._SHAPES, "openai", numbers)
    assert embedder.passages(["red house", "blue door"]) == pytest.approx(coded, abs=1e-6)


def numbers(rows, body):
    """As servers answer that know neither base64 nor the place of an item."""
    return {"data": [{"embedding": row.tolist()} for row in rows]}


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ConfigError, match=r'pip install "loom-recall\[openai\]"'):
        openai_embedder(Settings.model_validate({"embedder": "openai", "embedder_api_key": KEY}))
