"""The choice: every value of LOOM_EMBEDDER is served, behind the cache, with its limits; a remote one is counted."""

from __future__ import annotations

from typing import get_args

import pytest

from embedding_server import REMOTE, embedding_server, shared_server
from loom_server.embed.breaker import FAILURES
from loom_server.embed.cache import CachedEmbedder
from loom_server.embed.choose import EMBEDDERS, make_embedder
from loom_server.errors import EmbedError
from loom_server.observe.metrics import Metrics
from loom_server.settings import Settings


def settings(**values: object) -> Settings:
    if values.get("embedder") in REMOTE:
        return shared_server().settings(str(values.pop("embedder")), **values)
    return Settings.model_validate(values)


def test_every_value_of_the_setting_is_served() -> None:
    assert set(EMBEDDERS) == set(get_args(Settings.model_fields["embedder"].annotation))


def test_the_default_has_meaning() -> None:
    chosen = make_embedder(settings())
    assert isinstance(chosen, CachedEmbedder)
    assert chosen.identity.provider == "wordllama"
    assert not chosen.identity.fake


def test_the_hash_is_chosen_by_name() -> None:
    assert make_embedder(settings(embedder="hash")).identity.name == "loom:hash:256:1"


@pytest.mark.parametrize("name", list(EMBEDDERS))
def test_the_limit_of_tokens_reaches_the_embedder(name: str) -> None:
    text = "one two three four five six seven eight"
    chosen = make_embedder(settings(embedder=name, embed_max_tokens=8))
    assert (chosen.query(f"{text} nine") == chosen.query(text)).all()
    whole = make_embedder(settings(embedder=name))
    assert not (whole.query(f"{text} nine") == whole.query(text)).all()


def test_the_size_of_the_cache_reaches_it() -> None:
    kept = make_embedder(settings(embedder="hash", embed_cache_size=1))
    assert kept.query("red") is kept.query("red")
    fresh = make_embedder(settings(embedder="hash", embed_cache_size=0))
    assert fresh.query("red") is not fresh.query("red")


def test_the_requests_of_a_remote_one_are_counted() -> None:
    metrics = Metrics()
    with embedding_server() as server:
        chosen = make_embedder(server.settings("openai"), metrics)
        chosen.query("red house")
        server.order("status", status=401)
        for number in range(FAILURES + 1):
            with pytest.raises(EmbedError):
                chosen.query(f"blue door {number}")
    told = metrics.exposition("")[0].decode()
    assert 'loom_embed_requests_total{outcome="ok",provider="openai"} 1.0' in told
    assert f'loom_embed_requests_total{{outcome="denied",provider="openai"}} {FAILURES}.0' in told
    assert 'loom_embed_left_alone{provider="openai"} 1.0' in told
