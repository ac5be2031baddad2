"""The hash embedder: signed places of words, worked from the hash itself."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import pytest

from loom_server.embed.hashed import POSITIONS, HashedEmbedder

EMBEDDER = HashedEmbedder()


def cosine(one: str, other: str) -> float:
    first, second = EMBEDDER.passages([one, other])
    return float(first @ second)


def by_hand(*words: str, dimension: int = 256) -> np.ndarray:
    """The sum over words of +1 or -1 at each of eight places, divided by its length."""
    total = np.zeros(dimension)
    for word in words:
        digest = blake2b(word.encode(), digest_size=4 * POSITIONS).digest()
        for place in range(POSITIONS):
            number = int.from_bytes(digest[4 * place : 4 * place + 4], "little")
            total[number // 2 % dimension] += -1.0 if number % 2 else 1.0
    return total / np.linalg.norm(total)


def test_words_are_written_to_the_places_of_their_hash() -> None:
    (row,) = EMBEDDER.passages(["Red house, red door"])
    assert row == pytest.approx(by_hand("red", "house", "red", "door"), abs=1e-6)


def test_the_dimension_is_the_callers() -> None:
    small = HashedEmbedder(32)
    assert small.identity.name == "loom:hash:32:1"
    assert small.query("red") == pytest.approx(by_hand("red", dimension=32), abs=1e-6)


def test_half_the_words_shared_is_half_the_cosine() -> None:
    assert cosine("alpha beta", "alpha gamma") == pytest.approx(0.5, abs=0.15)
    assert cosine("alpha beta gamma", "gamma alpha beta") == pytest.approx(1.0, abs=1e-6)


def test_texts_without_a_common_word_are_far_apart() -> None:
    texts = [f"only{number} here{number} stand{number} words{number}" for number in range(40)]
    rows = EMBEDDER.passages(texts)
    cosines = (rows @ rows.T)[~np.eye(40, dtype=bool)]
    assert abs(cosines.mean()) < 0.02
    assert cosines.std() == pytest.approx(1 / 16, abs=0.02)


def test_case_and_punctuation_do_not_count() -> None:
    assert cosine("Grüße, WORLD!", "grüsse world") == pytest.approx(1.0, abs=1e-6)


def test_it_says_that_it_is_fake() -> None:
    assert EMBEDDER.identity.fake
    assert EMBEDDER.tokens("red house") == ()


def test_words_beyond_the_limit_do_not_count() -> None:
    short = HashedEmbedder(max_words=2)
    assert (short.query("red house") == short.query("red house door")).all()
    assert not (EMBEDDER.query("red house") == EMBEDDER.query("red house door")).all()


def test_a_prefix_belongs_to_its_role_and_to_the_identity() -> None:
    prefixed = HashedEmbedder(query_prefix="question: ", passage_prefix="text: ")
    assert prefixed.query("red house") == pytest.approx(by_hand("question", "red", "house"), abs=1e-6)
    assert prefixed.passages(["red house"])[0] == pytest.approx(by_hand("text", "red", "house"), abs=1e-6)
    swapped = HashedEmbedder(query_prefix="text: ", passage_prefix="question: ")
    names = {EMBEDDER.identity.name, prefixed.identity.name, swapped.identity.name}
    assert len(names) == 3


def test_a_lone_surrogate_is_no_failure() -> None:
    assert np.linalg.norm(EMBEDDER.query("\ud800 broken")) == pytest.approx(1.0)
