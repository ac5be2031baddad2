"""What is refused of the settings of a remote embedder, and that no message repeats a secret."""

from __future__ import annotations

import pytest

from loom_server.embed.endpoint import address_of, key_of, not_installed
from loom_server.errors import ConfigError
from loom_server.settings import Settings


def settings(**values: object) -> Settings:
    return Settings.model_validate({"embedder": "openai", **values})


def test_a_key_is_taken_without_the_blanks_around_it() -> None:
    assert key_of(settings(embedder_api_key=" sk-1\n")) == "sk-1"


@pytest.mark.parametrize("key", ["", " ", "sk-ü-secret", "sk-\nsecret"])
def test_a_key_that_is_missing_or_that_no_header_holds(key: str) -> None:
    with pytest.raises(ConfigError, match="LOOM_EMBEDDER_API_KEY") as told:
        key_of(settings(embedder_api_key=key))
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("", None),
        ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1"),
        ("https://embeddings.example", "https://embeddings.example"),
    ],
)
def test_an_address_is_taken_without_its_last_slash(given: str, address: str | None) -> None:
    assert address_of(settings(embedder_base_url=given)) == address


@pytest.mark.parametrize(
    "given",
    [
        "localhost:11434",
        "ftp://host/v1",
        "http://",
        "http://host:port/",
        "http://h/v1?key=secret",
        "http://me:secret@h/",
    ],
)
def test_an_address_that_is_none_or_holds_a_secret(given: str) -> None:
    with pytest.raises(ConfigError, match="LOOM_EMBEDDER_BASE_URL") as told:
        address_of(settings(embedder_base_url=given))
    assert "secret" not in str(told.value)


def test_a_package_that_is_missing_is_named_with_its_extra() -> None:
    told = not_installed("voyage", "voyageai").message
    assert "LOOM_EMBEDDER=voyage" in told
    assert 'pip install "loom-recall[voyage]"' in told
