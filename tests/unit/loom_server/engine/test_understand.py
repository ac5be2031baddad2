"""A question weighed by its namespace, also where the namespace's figures are wrong."""

from __future__ import annotations

from math import log

import pytest

from loom_server.engine.understand import idf, understand
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.statistics import EMBED, FACT, CommitDelta, Statistics, roll_ups
from writing import HASH, NAMESPACE


def test_worked_numbers_of_idf() -> None:
    assert idf(0, 0) == pytest.approx(log(2))
    assert idf(10, 1) == pytest.approx(log(1 + 9.5 / 1.5))
    assert idf(10, 10) == pytest.approx(log(1 + 0.5 / 10.5))


@pytest.mark.parametrize(
    ("documents", "frequency", "seen"),
    [(3, 2, (3, 2)), (3, 5, (3, 3)), (3, -1, (3, 0)), (0, -2, (0, 0)), (-1, 1, (0, 0)), (-2, -2, (0, 0))],
)
def test_wrong_roll_ups_end_no_search(
    store: EmbeddedStore, org: str, documents: int, frequency: int, seen: tuple[int, int]
) -> None:
    counts = {"fox": frequency}
    wrong = [
        CommitDelta(org, NAMESPACE, FACT, documents, 2 * documents, counts, counts),
        CommitDelta(org, NAMESPACE, EMBED, documents, 5_000 * documents, counts, counts),
    ]
    for insert in roll_ups(wrong):
        store.insert(insert)
    query = understand("fox", "en", Statistics(store).namespace(org, NAMESPACE), HASH, None)
    (term,) = query.terms
    assert (query.documents, term.document_frequency) == seen
    assert term.idf == term.scored_idf == idf(*seen)
    assert query.average_length == (2.0 if documents else 0.0)
