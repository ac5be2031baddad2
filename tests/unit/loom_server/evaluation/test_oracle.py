"""The plain orders by hand, on three rows."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from loom_server.embed.choose import make_embedder
from loom_server.evaluation.datasets.base import Document
from loom_server.evaluation.oracle import RRF_K, Oracle
from loom_server.settings import Settings

DOCUMENTS = [
    Document("b", "The ferry leaves at seven."),
    Document("a", "The ferry carries sheep."),
    Document("c", "A sheep eats grass and grass and grass."),
]


@pytest.fixture(scope="module")
def oracle() -> Oracle:
    return Oracle(DOCUMENTS, make_embedder(Settings(embedder="hash")))


def idf(frequency: int) -> float:
    return log(1 + (3 - frequency + 0.5) / (frequency + 0.5))


def test_the_lexical_score_is_the_weighted_share_of_the_terms(oracle: Oracle) -> None:
    plain = oracle.ask("ferry grass")
    total = idf(2) + idf(1)
    assert plain.lexical == pytest.approx(np.array([idf(2) / total, idf(2) / total, idf(1) / total]))


def test_bm25_is_lucenes_with_the_namespaces_figures(oracle: Oracle) -> None:
    plain = oracle.ask("grass")
    lengths = [
        len("ferry leaves seven".split()),
        len("ferry carries sheep".split()),
        len("sheep eats grass grass grass".split()),
    ]
    average = sum(lengths) / 3
    expected = 3 / (3 + 1.2 * (1 - 0.75 + 0.75 * lengths[2] / average))
    assert plain.bm25 == pytest.approx(np.array([0, 0, expected]), abs=1e-6)


def test_equal_scores_fall_back_on_the_second_and_then_on_the_key(oracle: Oracle) -> None:
    same = np.array([1.0, 1.0, 1.0])
    assert oracle.order(same).first(3)[0] == ("a", "b", "c")
    assert oracle.order(same, np.array([0.0, 0.0, 2.0])).first(2)[0] == ("c", "a")
    assert oracle.order(np.array([0.0, 2.0, 1.0]), positive=True).first(3) == (("a", "c"), (2.0, 1.0))


def test_reciprocal_ranks_are_summed(oracle: Oracle) -> None:
    plain = oracle.ask("ferry")
    by_cosine = oracle.order(plain.cosine, plain.lexical).first(3)[0]
    by_words = oracle.order(plain.lexical, plain.cosine, positive=True).first(3)[0]
    sums = {key: 1000 / (RRF_K + place) for place, key in enumerate(by_cosine, start=1)}
    for place, key in enumerate(by_words, start=1):
        sums[key] += 1000 / (RRF_K + place)
    keys, scores = oracle.ranks("ferry", ["rrf"])["rrf"]
    assert dict(zip(keys, scores, strict=True)) == pytest.approx(sums, abs=1e-5)


def test_a_question_without_words_scores_nothing(oracle: Oracle) -> None:
    assert oracle.ranks("?!", ["lexical", "bm25", "default"]) == {"lexical": ((), ()), "bm25": ((), ())}
