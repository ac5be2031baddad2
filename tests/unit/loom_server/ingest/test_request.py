"""A draft is made ready by its caller: tokens, vector, and what went without."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from loom_server.embed.base import ModelIdentity, TokenShare, Vectors
from loom_server.embed.choose import make_embedder
from loom_server.errors import EmbedError
from loom_server.ingest.content import sha256_of
from loom_server.ingest.request import key_of, prepare
from loom_server.model.deadline import Deadline
from loom_server.settings import Settings
from writing import HASH, a_draft, a_key

ORG = "acme"


class FailingEmbedder:
    """An embedder whose service is away."""

    identity = ModelIdentity("away", "m", 4, "1")

    def passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> Vectors:
        raise EmbedError("away")

    def query(self, text: str, share: TokenShare | None = None, deadline: Deadline | None = None) -> Vectors:
        raise EmbedError("away")

    def tokens(self, text: str) -> tuple[str, ...]:
        return ("never", "asked")

    def background(self, tokens: Sequence[str]) -> Sequence[float]:
        raise EmbedError("away")


def nobody(org: str) -> None:
    """No org is held to a model."""


def test_a_write_has_its_key_its_hash_and_its_tokens() -> None:
    (write,) = prepare([a_draft(ORG, "colour", "red red foxes", agent="a")], HASH, nobody, "en")
    assert write.key == key_of(write.draft)
    assert (write.key.agent, write.key.memory_key) == ("a", "colour")
    assert write.sha256 == sha256_of('"red red foxes"')
    assert (write.index["red"], write.index["fox"], write.index["k:colour"], write.length) == (2, 1, 1, 3)
    assert write.weight == len(write.index) + 1


def test_vectors_go_to_their_drafts() -> None:
    drafts = [a_draft(ORG, "a", "red"), a_draft("held", "b", "green"), a_draft(ORG, "c", "blue")]
    writes = prepare(drafts, HASH, lambda org: "another:model:4:1" if org == "held" else None, "en")
    assert writes[1].vector is None
    assert [writes[i].degraded for i in range(3)] == [(), ("embed: model_mismatch",), ()]
    for index, text in ((0, "red"), (2, "blue")):
        vector = writes[index].vector
        assert vector is not None
        assert np.array_equal(vector, HASH.passages([text])[0])


def test_the_model_that_the_org_is_held_to_may_be_the_live_one() -> None:
    (write,) = prepare([a_draft(ORG)], HASH, lambda org: HASH.identity.name, "en")
    assert write.vector is not None
    assert write.degraded == ()


def test_an_embedder_that_fails_costs_the_vectors_alone() -> None:
    writes = prepare([a_draft(ORG, "a"), a_draft(ORG, "b")], FailingEmbedder(), nobody, "en")
    assert [(write.vector, write.tokens, write.degraded) for write in writes] == [
        (None, (), ("embed: embed_error",))
    ] * 2
    assert all(write.index for write in writes)


def test_a_text_without_a_word_has_no_vector_and_misses_none() -> None:
    (write,) = prepare([a_draft(ORG, text=" ")], HASH, nobody, "en")
    assert (write.vector, write.degraded) == (None, ())


@pytest.mark.parametrize("text", ["red red fox", "Zürich, at 12:30"])
def test_the_embedder_s_tokens_are_kept_with_repetition(text: str) -> None:
    static = make_embedder(Settings(embedder="static"))
    (write,) = prepare([a_draft(ORG, text=text)], static, nobody, "en")
    assert write.tokens == static.tokens(text)


def test_the_key_of_a_draft() -> None:
    assert key_of(a_draft(ORG, "name")) == a_key(ORG, "name")
