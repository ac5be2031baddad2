"""For any text, number of texts and shares: vectors are finite, of length 1 or 0, and independent of company.

Of the remote embedders only what is done on this side is held, with one of them: their server hashes words.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embedding_server import REMOTE, shared_server
from loom_server.embed.base import Embedder
from loom_server.embed.choose import EMBEDDERS
from loom_server.embed.static import StaticEmbedder
from loom_server.settings import Settings

TEXTS = st.text(max_size=400) | st.text(st.characters(categories=["Cs", "Ll", "Zs", "Lo", "So"]), max_size=40)
every = pytest.mark.parametrize("name", [*(name for name in EMBEDDERS if name not in REMOTE), "openai"])


@cache
def embedder(name: str) -> Embedder:
    remote = name in REMOTE
    return EMBEDDERS[name](shared_server().settings(name) if remote else Settings.model_validate({"embedder": name}))


@cache
def static(max_tokens: int) -> StaticEmbedder:
    return StaticEmbedder(max_tokens)


def assert_unit_or_zero(vector: np.ndarray) -> None:
    assert np.isfinite(vector).all()
    length = float(np.linalg.norm(vector))
    assert length == 0.0 or length == pytest.approx(1.0, abs=1e-5)


@every
@settings(deadline=None)
@given(text=TEXTS)
def test_any_text_is_a_unit_or_a_zero_vector(name: str, text: str) -> None:
    (row,) = embedder(name).passages([text])
    assert_unit_or_zero(row)
    assert_unit_or_zero(embedder(name).query(text))


@every
@settings(deadline=None)
@given(texts=st.lists(TEXTS, max_size=12))
def test_a_text_embeds_alike_in_any_company(name: str, texts: list[str]) -> None:
    rows = embedder(name).passages(texts)
    assert rows.shape == (len(texts), embedder(name).identity.dimension)
    for text, row in zip(texts, rows, strict=True):
        assert (embedder(name).passages([text])[0] == row).all()


@settings(deadline=None)
@given(text=TEXTS)
def test_a_static_vector_is_zero_only_without_tokens(text: str) -> None:
    model = static(256)
    assert model.passages([text])[0].any() == bool(model.tokens(text))
    assert bool(model.tokens(text)) == bool(text.strip())


@settings(deadline=None)
@given(text=TEXTS, data=st.data())
def test_any_shares_give_a_unit_or_a_zero_vector(text: str, data: st.DataObject) -> None:
    model = static(256)
    tokens = model.tokens(text)
    shares = data.draw(st.lists(st.floats(0, 1), min_size=len(tokens), max_size=len(tokens)))
    vector = model.query(text, lambda _: shares)
    assert_unit_or_zero(vector)
    assert vector.any() == bool(tokens)


@settings(deadline=None)
@given(
    words=st.lists(st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=9), min_size=1, max_size=60)
)
def test_a_shorter_limit_keeps_the_first_tokens(words: list[str]) -> None:
    text = " ".join(words)
    assert static(8).tokens(text * 9) == static(4_096).tokens(text * 9)[:8]
