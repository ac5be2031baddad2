"""What every embedder of the registry keeps to, bare and behind its cache.

A new line in `EMBEDDERS` is tested here by itself. `hash with prefixes` stands for the
models that embed a question and a passage under different prefixes. Remote ones ask a local
server of their wire.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest

from embedding_server import REMOTE, shared_server
from loom_server.embed.base import Embedder, ModelIdentity
from loom_server.embed.choose import EMBEDDERS, make_embedder
from loom_server.embed.hashed import HashedEmbedder
from loom_server.embed.vectors import checked
from loom_server.errors import EmbedError
from loom_server.settings import Settings

TEXTS = (
    "Anna moved the build to Frankfurt in March.",
    "anna MOVED the build",
    "pg_hba.conf needs v1.9.2 on 10.0.0.7",
    "Grüße aus Köln, naïvement 😀",
    "東京都に住んでいます",
    "one",
    "line one\nline two\ttabbed   spaced",
    "the the the the",
)
EMPTY = ("", " ", " \n\t ")


def settings(name: str) -> Settings:
    return shared_server().settings(name) if name in REMOTE else Settings.model_validate({"embedder": name})


def bare(name: str) -> Embedder:
    return EMBEDDERS[name](settings(name))


def chosen(name: str) -> Embedder:
    return make_embedder(settings(name))


def fewer(name: str, number: int, remote: int) -> int:
    """So many repetitions: each request to a server costs some milliseconds."""
    return remote if name.removesuffix(", cached") in REMOTE else number


MAKERS: dict[str, Callable[[], Embedder]] = {
    **{name: (lambda name=name: bare(name)) for name in EMBEDDERS},
    **{f"{name}, cached": (lambda name=name: chosen(name)) for name in EMBEDDERS},
    "hash with prefixes": lambda: HashedEmbedder(query_prefix="question: ", passage_prefix="text: "),
}


@cache
def made(name: str, copy: int = 0) -> Embedder:
    """One embedder for all tests, and a second one to compare it with."""
    return MAKERS[name]()


@pytest.fixture(params=list(MAKERS))
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def embedder(name: str) -> Embedder:
    return made(name)


def constant(part: float) -> Callable[[Sequence[str]], list[float]]:
    return lambda tokens: [part] * len(tokens)


def test_the_identity_is_the_same_in_every_copy(name: str, embedder: Embedder) -> None:
    before = embedder.identity
    embedder.passages(TEXTS)
    assert embedder.identity == before == made(name, copy=1).identity


def test_the_identity_names_provider_model_dimension_and_revision(embedder: Embedder) -> None:
    identity = embedder.identity
    assert identity.name.split(":") == [identity.provider, identity.model, str(identity.dimension), identity.revision]
    assert all(identity.name.split(":"))


def test_no_two_embedders_share_a_name() -> None:
    names = [bare(name).identity.name for name in EMBEDDERS]
    names.append(made("hash with prefixes").identity.name)
    assert len(set(names)) == len(names)


def test_rows_are_float32_and_of_length_one(embedder: Embedder) -> None:
    rows = embedder.passages(TEXTS)
    assert rows.dtype == np.float32
    assert rows.shape == (len(TEXTS), embedder.identity.dimension)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert checked(rows, embedder.identity, len(TEXTS)) is rows


def test_a_query_is_one_vector_of_length_one(embedder: Embedder) -> None:
    for text in TEXTS:
        for vector in (embedder.query(text), embedder.query(text, constant(0.01))):
            assert vector.dtype == np.float32
            assert vector.shape == (embedder.identity.dimension,)
            assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_no_texts_are_no_rows(embedder: Embedder) -> None:
    assert embedder.passages([]).shape == (0, embedder.identity.dimension)


@pytest.mark.parametrize("empty", EMPTY)
def test_an_empty_text_is_a_zero_row_and_has_no_tokens(embedder: Embedder, empty: str) -> None:
    rows = embedder.passages([TEXTS[0], empty, TEXTS[1]])
    assert rows.any(axis=1).tolist() == [True, False, True]
    assert not embedder.query(empty).any()
    assert not embedder.query(empty, constant(0.5)).any()
    assert embedder.tokens(empty) == ()


def test_two_copies_agree_to_the_bit(name: str, embedder: Embedder) -> None:
    other = made(name, copy=1)
    assert (embedder.passages(TEXTS) == other.passages(TEXTS)).all()
    assert all((embedder.query(text) == other.query(text)).all() for text in TEXTS)
    assert [embedder.tokens(text) for text in TEXTS] == [other.tokens(text) for text in TEXTS]


def test_a_batch_equals_its_texts_one_by_one_in_any_order(name: str) -> None:
    many = [f"{text} {number}" for number in range(fewer(name, 70, 17)) for text in TEXTS]
    rows = made(name).passages(many)
    backwards = MAKERS[name]().passages(many[::-1])
    assert (rows == backwards[::-1]).all()
    alone = MAKERS[name]()
    for number in (0, 1, 7, 64, 128, len(many) // 2, len(many) - 1):
        assert (alone.passages([many[number]])[0] == rows[number]).all()


def test_texts_that_share_words_are_nearer(embedder: Embedder) -> None:
    near, far = "Anna moved the build to Berlin.", "Pancakes want butter, sugar and lemon."
    first, close, distant = embedder.passages([TEXTS[0], near, far])
    assert first @ close > first @ distant + 0.2
    question = embedder.query("Where did Anna move the build?")
    assert question @ close > question @ distant


def test_roles_differ_exactly_where_prefixes_do(embedder: Embedder) -> None:
    identity = embedder.identity
    for text, row in zip(TEXTS, embedder.passages(TEXTS), strict=True):
        assert (embedder.query(text) == row).all() == (identity.query_prefix == identity.passage_prefix)


def test_shares_are_asked_for_the_tokens_of_the_text(embedder: Embedder) -> None:
    for text in TEXTS:
        asked: list[tuple[str, ...]] = []

        def share(tokens: Sequence[str], asked: list[tuple[str, ...]] = asked) -> list[float]:
            asked.append(tuple(tokens))
            return [0.01] * len(tokens)

        embedder.query(text, share)
        assert asked == ([embedder.tokens(text)] if embedder.tokens(text) else [])


def test_equal_shares_turn_no_query(embedder: Embedder) -> None:
    for text in TEXTS:
        assert embedder.query(text, constant(0.2)) @ embedder.query(text) == pytest.approx(1.0, abs=1e-5)


def test_a_common_token_pulls_less(embedder: Embedder) -> None:
    if not embedder.tokens("Frankfurt"):
        assert (embedder.query("the Frankfurt", constant(0.5)) == embedder.query("the Frankfurt")).all()
        return
    common = set(embedder.tokens("the"))
    weighted = embedder.query("the Frankfurt", lambda tokens: [0.05 if token in common else 0.0 for token in tokens])
    (frankfurt,) = embedder.passages(["Frankfurt"])
    assert weighted @ frankfurt > embedder.query("the Frankfurt") @ frankfurt


def test_passages_do_not_know_of_shares(embedder: Embedder) -> None:
    before = embedder.passages(TEXTS)
    for text in TEXTS:
        embedder.query(text, constant(0.3))
    assert (embedder.passages(TEXTS) == before).all()


def test_a_very_long_text_is_cut_and_not_refused(embedder: Embedder) -> None:
    long = "A value of many words. " * 20_000
    rows = embedder.passages([long, long + "tail"])
    assert np.linalg.norm(rows[0]) == pytest.approx(1.0, abs=1e-5)
    assert (rows[0] == rows[1]).all()
    assert len(embedder.tokens(long)) <= 256


def test_eight_threads_get_what_one_gets(name: str) -> None:
    shared = MAKERS[name]()
    texts = [f"{text} {number}" for number in range(fewer(name, 20, 2)) for text in TEXTS]
    alone = made(name, copy=1)
    rows = alone.passages(texts)
    queries = [alone.query(text, constant(0.01)) for text in texts]

    def work(offset: int) -> bool:
        turned = texts[offset:] + texts[:offset]
        same = (np.roll(rows, -offset, axis=0) == shared.passages(turned)).all()
        return bool(same) and all(
            (shared.query(text, constant(0.01)) == queries[(number + offset) % len(texts)]).all()
            for number, text in enumerate(turned)
        )

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(work, range(8))) == [True] * 8


def spoiled(identity: ModelIdentity, how: str) -> np.ndarray:
    rows = np.eye(2, identity.dimension, dtype=np.float32)
    if how == "nan":
        rows[1, 0] = np.nan
    elif how == "infinity":
        rows[1, 0] = np.inf
    elif how == "length":
        rows[1] *= 2
    return rows[:, :-1] if how == "dimension" else rows


@pytest.mark.parametrize("how", ["nan", "infinity", "length", "dimension"])
def test_junk_under_its_name_is_refused(embedder: Embedder, how: str) -> None:
    with pytest.raises(EmbedError, match=embedder.identity.name):
        checked(spoiled(embedder.identity, how), embedder.identity, 2)


def test_the_background_is_a_share_for_each_token_asked(embedder: Embedder) -> None:
    tokens = embedder.tokens("the red house of the town")
    shares = list(embedder.background((*tokens, "no such token")))
    assert len(shares) == len(tokens) + 1
    assert all(0.0 <= share <= 1.0 for share in shares)
    assert shares[-1] == 0.0
