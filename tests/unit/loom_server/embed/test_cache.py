"""The cache: what is embedded again and what is not, and that nothing stale or unusable is served.

The embedder behind it is the real hash embedder, or one that counts its calls and weights
words as the static one weights tokens.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from gc import collect
from weakref import ref

import numpy as np
import pytest

from embedding_server import embedding_server
from loom_server.embed.base import ModelIdentity, Probed, TokenShare, Vectors
from loom_server.embed.cache import LONGEST_KEPT, CachedEmbedder
from loom_server.embed.choose import make_embedder
from loom_server.embed.hashed import HashedEmbedder
from loom_server.embed.vectors import unit
from loom_server.errors import EmbedError
from loom_server.model.deadline import Deadline


class Counting:
    """Weighted hashed words; writes down every text that it embeds."""

    def __init__(self) -> None:
        self._words = HashedEmbedder()
        self.identity = ModelIdentity("test", "counting", 256, "1")
        self.passage_texts: list[str] = []
        self.query_texts: list[str] = []

    def passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> Vectors:
        self.passage_texts += texts
        return self._words.passages(texts)

    def query(self, text: str, share: TokenShare | None = None, deadline: Deadline | None = None) -> Vectors:
        self.query_texts.append(text)
        words = self.tokens(text)
        weights = [1.0] * len(words) if share is None else [1 - part for part in share(words)]
        total = np.zeros(256, dtype=np.float32)
        for weight, row in zip(weights, self._words.passages(words), strict=True):
            total += weight * row
        return unit(total)

    def tokens(self, text: str) -> tuple[str, ...]:
        return tuple(text.split())

    def background(self, tokens: Sequence[str]) -> Sequence[float]:
        return self._words.background(tokens)


class Broken(Counting):
    """Answers with what it was given."""

    def __init__(self, answer: np.ndarray) -> None:
        super().__init__()
        self.answer = answer

    def passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> Vectors:
        self.passage_texts += texts
        return self.answer

    def query(self, text: str, share: TokenShare | None = None, deadline: Deadline | None = None) -> Vectors:
        self.query_texts.append(text)
        return self.answer[0]


@pytest.fixture
def inner() -> Counting:
    return Counting()


@pytest.fixture
def cached(inner: Counting) -> CachedEmbedder:
    return CachedEmbedder(inner, 100)


def test_a_passage_is_embedded_once(inner: Counting, cached: CachedEmbedder) -> None:
    first = cached.passages(["red house", "blue door", "red house"])
    again = cached.passages(["blue door", "green roof", "red house"])
    assert inner.passage_texts == ["red house", "blue door", "green roof"]
    assert (first[[1, 0]] == again[[0, 2]]).all()
    assert (first == HashedEmbedder().passages(["red house", "blue door", "red house"])).all()


@pytest.mark.parametrize("length", [LONGEST_KEPT, LONGEST_KEPT + 1])
def test_long_texts_are_told_apart_and_known_again(inner: Counting, cached: CachedEmbedder, length: int) -> None:
    texts = ["red " * length, "red " * (length - 1) + "fox ", "r" * length, "r" * (length - 1) + "\ud800"]
    first = cached.passages(texts)
    assert (cached.passages(texts) == first).all()
    assert inner.passage_texts == texts
    assert (first == HashedEmbedder().passages(texts)).all()


def test_a_long_text_does_not_stay_in_memory_for_its_vector() -> None:
    class Text(str):
        """A text that can be watched."""

    text = Text("red fox " * 100)
    watched = ref(text)
    cached = CachedEmbedder(HashedEmbedder(), 100)
    cached.passages([text])
    cached.query(text)
    del text
    collect()
    assert watched() is None


def test_a_query_is_embedded_once(inner: Counting, cached: CachedEmbedder) -> None:
    assert (cached.query("red house") == cached.query("red house")).all()
    assert inner.query_texts == ["red house"]


def test_a_passage_is_no_query() -> None:
    cached = CachedEmbedder(HashedEmbedder(query_prefix="question "), 100)
    (passage,) = cached.passages(["red house"])
    query = cached.query("red house")
    assert (query == HashedEmbedder().query("red house question")).all()
    assert (passage == HashedEmbedder().passages(["red house"])[0]).all()
    assert (cached.passages(["red house"])[0] == passage).all()


def test_the_same_shares_are_the_same_vector(inner: Counting, cached: CachedEmbedder) -> None:
    first = cached.query("red house", lambda _: [0.25, 0.5])
    again = cached.query("red house", lambda _: (0.25, np.float64(0.5)))
    assert (first == again).all()
    assert inner.query_texts == ["red house"]


def test_shares_that_moved_are_embedded_again(inner: Counting, cached: CachedEmbedder) -> None:
    counts = {"red": 1, "house": 1}

    def share(tokens: Sequence[str]) -> list[float]:
        return [counts[token] / sum(counts.values()) for token in tokens]

    before = cached.query("red house", share)
    counts["red"] = 3
    after = cached.query("red house", share)
    assert (after == Counting().query("red house", share)).all()
    assert not (after == before).all()
    counts["red"] = 1
    assert (cached.query("red house", share) == before).all()
    assert inner.query_texts == ["red house", "red house"]


def test_a_weighted_query_is_not_the_plain_one(inner: Counting, cached: CachedEmbedder) -> None:
    plain = cached.query("red house")
    weighted = cached.query("red house", lambda _: [0.9, 0.0])
    assert not (plain == weighted).all()
    assert (cached.query("red house") == plain).all()
    assert inner.query_texts == ["red house", "red house"]


def test_shares_are_asked_once_and_weight_what_they_are_kept_under(cached: CachedEmbedder) -> None:
    answers = iter([[0.0, 0.9], [0.9, 0.0]])
    vector = cached.query("red house", lambda _: next(answers))
    assert (vector == Counting().query("red house", lambda _: [0.0, 0.9])).all()


def test_an_embedder_without_tokens_is_asked_for_no_share() -> None:
    cached = CachedEmbedder(HashedEmbedder(), 100)
    assert (cached.query("red house", lambda _: pytest.fail("asked")) == cached.query("red house")).all()


def test_the_least_recently_used_goes_first(inner: Counting) -> None:
    cached = CachedEmbedder(inner, 2)
    cached.passages(["a", "b"])
    cached.passages(["a"])
    cached.passages(["c"])
    cached.passages(["a"])
    assert inner.passage_texts == ["a", "b", "c"]
    cached.passages(["b"])
    assert inner.passage_texts == ["a", "b", "c", "b"]


def test_a_batch_larger_than_the_cache_is_whole(inner: Counting) -> None:
    texts = [f"word{number}" for number in range(10)]
    assert (CachedEmbedder(inner, 3).passages(texts) == HashedEmbedder().passages(texts)).all()


def test_size_zero_keeps_nothing(inner: Counting) -> None:
    cached = CachedEmbedder(inner, 0)
    for _ in range(2):
        cached.passages(["red"])
        cached.query("red", lambda _: [0.5])
    assert inner.passage_texts == ["red", "red"]
    assert inner.query_texts == ["red", "red"]


def test_another_identity_is_another_entry(inner: Counting, cached: CachedEmbedder) -> None:
    cached.passages(["red"])
    cached.query("red")
    inner.identity = ModelIdentity("test", "counting", 256, "2")
    cached.passages(["red"])
    cached.query("red")
    assert inner.passage_texts == ["red", "red"]
    assert inner.query_texts == ["red", "red"]
    assert cached.identity.revision == "2"


def test_no_caller_can_change_what_is_kept(cached: CachedEmbedder) -> None:
    rows = cached.passages(["red"])
    expected = rows.copy()
    rows[:] = 7.0
    assert (cached.passages(["red"]) == expected).all()
    with pytest.raises(ValueError, match="read-only"):
        cached.query("red")[0] = 7.0


def test_no_texts_are_no_rows(inner: Counting, cached: CachedEmbedder) -> None:
    assert cached.passages([]).shape == (0, 256)
    assert inner.passage_texts == []


def test_tokens_are_those_of_the_embedder_behind(cached: CachedEmbedder) -> None:
    assert cached.tokens("red house red") == ("red", "house", "red")


BAD = {
    "nan": np.full((1, 256), np.nan, dtype=np.float32),
    "wrong dimension": np.eye(1, 255, dtype=np.float32),
    "not of length 1": np.ones((1, 256), dtype=np.float32),
}


@pytest.mark.parametrize("answer", BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("size", [0, 100])
def test_an_unusable_answer_is_refused_and_not_kept(answer: np.ndarray, size: int) -> None:
    broken = Broken(answer)
    cached = CachedEmbedder(broken, size)
    for _ in range(2):
        with pytest.raises(EmbedError, match="test:counting:256:1"):
            cached.passages(["red"])
        with pytest.raises(EmbedError, match="test:counting:256:1"):
            cached.query("red")
    assert broken.passage_texts == ["red", "red"]
    assert broken.query_texts == ["red", "red"]


def test_a_mended_embedder_serves_again() -> None:
    broken = Broken(BAD["nan"])
    cached = CachedEmbedder(broken, 100)
    with pytest.raises(EmbedError):
        cached.query("red")
    broken.answer = np.eye(1, 256, dtype=np.float32)
    assert cached.query("red")[0] == 1.0


def test_a_slow_text_holds_nobody_up() -> None:
    started, release = threading.Event(), threading.Event()

    class Slow(Counting):
        def query(self, text: str, share: TokenShare | None = None, deadline: Deadline | None = None) -> Vectors:
            if text == "slow":
                started.set()
                assert release.wait(10)
            return super().query(text, share)

    cached = CachedEmbedder(Slow(), 100)
    waiting = threading.Thread(target=cached.query, args=("slow",))
    waiting.start()
    assert started.wait(10)
    assert cached.query("quick").any()
    assert waiting.is_alive()
    release.set()
    waiting.join(10)
    assert not waiting.is_alive()


def test_threads_that_miss_the_same_texts_at_once_make_one_request() -> None:
    with embedding_server() as server:
        server.order("slow", seconds=0.3)
        cached = make_embedder(server.settings("openai"))
        together = threading.Barrier(6)

        def ask(number: int) -> Vectors:
            together.wait()
            return cached.query("red house") if number % 2 else cached.passages(["red house", "blue door"])[0]

        with ThreadPoolExecutor(6) as threads:
            vectors = list(threads.map(ask, range(6)))
    assert sorted(len(asked.texts) for asked in server.asked) == [1, 2]
    assert all((vector == vectors[0]).all() for vector in vectors)


def test_a_probe_is_not_answered_by_what_is_kept() -> None:
    with embedding_server() as server:
        cached = make_embedder(server.settings("openai"))
        assert isinstance(cached, Probed)
        assert cached.query("red house").any()
        server.order("status", status=401)
        with pytest.raises(EmbedError):
            cached.query("blue door")
        assert cached.query("red house").any()
        with pytest.raises(EmbedError, match="denied"):
            cached.probe()


def test_a_probe_of_a_local_embedder_embeds(inner: Counting, cached: CachedEmbedder) -> None:
    cached.probe()
    cached.probe()
    assert len(inner.query_texts) == 2
    with pytest.raises(EmbedError, match="NaN"):
        CachedEmbedder(Broken(np.full((1, 256), np.nan, dtype=np.float32)), 10).probe()
