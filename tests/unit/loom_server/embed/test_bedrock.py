"""What is sent to Bedrock, with which signature, and what is missing or refused of the settings."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from embedding_server import ACCESS_KEY, REGION, SECRET_KEY, EmbeddingServer, embedding_server
from loom_server.embed.bedrock import bedrock_embedder
from loom_server.errors import ConfigError, EmbedError
from loom_server.settings import Settings


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the server, and nothing that this machine may hold."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


def test_a_text_is_a_request_and_all_are_signed(server: EmbeddingServer) -> None:
    rows = bedrock_embedder(server.settings("bedrock")).passages(["red house", "blue door"])
    assert rows.any(axis=1).tolist() == [True, True]
    assert sorted((dict(asked.body) for asked in server.asked), key=str) == [
        {"inputText": text, "dimensions": 256, "normalize": True} for text in ("blue door", "red house")
    ]


def test_the_model_is_titan_with_its_own_dimension_unless_told(server: EmbeddingServer) -> None:
    embedder = bedrock_embedder(server.settings("bedrock", embedder_dimension=0))
    assert embedder.identity.name == "bedrock:amazon.titan-embed-text-v2@0:1024:1"
    assert embedder.query("red house").shape == (1024,)


def test_a_wrong_signature_is_denied(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    given = server.settings("bedrock")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    with pytest.raises(EmbedError, match=r"denied .* AWS credentials .*403"):
        bedrock_embedder(given).query("red house")


def test_a_region_is_the_settings_or_awss_own(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="set LOOM_EMBEDDER_REGION"):
        bedrock_embedder(Settings.model_validate({"embedder": "bedrock"}))
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    assert bedrock_embedder(server.settings("bedrock", embedder_region="")).query("red house").any()


def test_credentials_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(ConfigError, match="finds no AWS credentials"):
        bedrock_embedder(Settings.model_validate({"embedder": "bedrock", "embedder_region": REGION}))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"embedder_model": "cohere.embed-v4"}, "unset LOOM_EMBEDDER_MODEL"),
        ({"embedder_dimension": 300}, "LOOM_EMBEDDER_DIMENSION .* 256, 512, 1024"),
        ({"embedder_api_key": "secret"}, "unset LOOM_EMBEDDER_API_KEY"),
    ],
)
def test_what_would_have_no_effect_is_refused(given: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        bedrock_embedder(Settings.model_validate({"embedder": "bedrock", "embedder_region": REGION, **given}))


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(ConfigError, match=r'pip install "loom-recall\[bedrock\]"'):
        bedrock_embedder(Settings.model_validate({"embedder": "bedrock", "embedder_region": REGION}))
