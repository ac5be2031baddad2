"""Which identifiers close the gate, slot by slot."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loom_server.analysis.analyse import query_terms
from loom_server.gate.absent import absent_identifiers
from loom_server.model.query import Query


def query(text: str, known: dict[str, int]) -> Query:
    terms = tuple(replace(term, document_frequency=known.get(term.text, 0)) for term in query_terms(text))
    return Query(text, terms, None, documents=10)


def mask(asked: Query, *texts: str) -> int:
    return sum(1 << slot for slot, term in enumerate(asked.terms) if term.text in texts)


@pytest.mark.parametrize(
    ("text", "known", "carried", "absent"),
    [
        ("PROJ-4711", {"proj": 3}, ("proj",), ("proj-4711",)),
        ("PROJ-4711", {"proj-4711": 1}, ("proj",), ()),  # another row carries it: the cosine decides
        ("PROJ-4711", {"proj": 1, "4711": 1}, ("proj", "4711"), ()),  # written apart
        ("PROJ-4711 on atlas-3", {"atlas-3": 1}, ("atlas-3",), ()),  # one of two is there
        ("edit /etc/hosts", {}, (), ()),  # no digit
        ("on 2024-05-01", {}, (), ()),  # a day
        ("upgrade to v1.9.2", {}, ("upgrade",), ("1.9.2",)),
        ("who leads storage", {}, (), ()),
    ],
)
def test_absent_identifiers(
    text: str, known: dict[str, int], carried: tuple[str, ...], absent: tuple[str, ...]
) -> None:
    asked = query(text, known)
    assert absent_identifiers(asked, mask(asked, *carried)) == absent
