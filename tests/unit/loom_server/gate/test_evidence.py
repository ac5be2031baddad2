"""Rare terms and their coverage, worked by hand."""

from __future__ import annotations

import pytest

from loom_server.gate.evidence import evidence, is_exempt, rare_terms
from loom_server.model.query import Query, Term
from loom_server.model.verdict import Evidence
from stages import a_query, a_row, a_term

# 100 rows: rare is df <= 5
ZEBRA = a_term("zebra", 0, idf=5.3)
MIGRATION = a_term("migration", 1, idf=4.2)
PATTERNS = a_term("patterns", 5, idf=2.9)
TEAM = a_term("team", 40, idf=0.9)
THE = a_term("the", 0, kind="stop", idf=5.3)
TICKET = a_term("PROJ-7", 2, kind="identifier", idf=3.7)


def coverage(query: Query, matched: int) -> float:
    return evidence(a_row(1, matched=matched), query).rare_coverage


def test_coverage_is_the_idf_weighted_share() -> None:
    # 4.2 of 5.3 + 4.2 + 2.9 = 12.4
    assert coverage(a_query(ZEBRA, MIGRATION, PATTERNS), 0b010) == pytest.approx(4.2 / 12.4)


def test_a_word_that_nobody_wrote_keeps_every_row_below_full_coverage() -> None:
    # all that the namespace knows of the question: migration and patterns
    query = a_query(ZEBRA, MIGRATION, PATTERNS)
    assert coverage(query, 0b110) == pytest.approx(7.1 / 12.4)
    assert not is_exempt(evidence(a_row(1, matched=0b110), query))


def test_all_rare_terms_are_exactly_one() -> None:
    query = a_query(a_term("a", 1, idf=0.1), a_term("b", 1, idf=0.2), a_term("c", 1, idf=0.3))
    assert coverage(query, 0b111) == 1.0
    assert is_exempt(evidence(a_row(1, matched=0b111), query))


def test_common_words_and_stop_words_are_no_rare_terms() -> None:
    query = a_query(TEAM, THE, MIGRATION)
    assert rare_terms(query).mask == 0b100
    assert coverage(query, 0b100) == 1.0
    assert coverage(query, 0b011) == 0.0


def test_a_question_of_common_words_has_no_coverage() -> None:
    query = a_query(TEAM)
    assert coverage(query, 0b1) == 0.0
    assert not is_exempt(evidence(a_row(1, matched=0b1), query))


@pytest.mark.parametrize(
    ("documents", "df", "rare"), [(100, 5, True), (100, 6, False), (10, 2, True), (10, 3, False), (0, 0, True)]
)
def test_rare_is_a_twentieth_of_the_rows_and_at_least_two(documents: int, df: int, rare: bool) -> None:
    assert bool(rare_terms(a_query(a_term("word", df), documents=documents)).mask) is rare


def test_one_identifier_of_several_is_enough() -> None:
    query = a_query(TICKET, a_term("PROJ-8", 0, kind="identifier", idf=5.3))
    found = evidence(a_row(1, 0.1, matched=0b01), query)
    assert found.identifier
    assert is_exempt(found)


def test_a_part_of_an_identifier_is_no_identifier() -> None:
    query = a_query(TICKET, a_term("proj", 4, kind="part", idf=3.0))
    found = evidence(a_row(1, 0.1, matched=0b10), query)
    assert not found.identifier
    assert found.rare_coverage == pytest.approx(3.0 / 6.7)


@pytest.mark.parametrize(("df", "evident"), [(5, True), (6, False)])
def test_a_name_that_is_also_a_word_is_evidence_only_where_it_is_rare(df: int, evident: bool) -> None:
    github = Term("github", "identifier", ("i:github", "github"), "github", 2.9, 2.9, df)
    found = evidence(a_row(1, 0.1, matched=0b01), a_query(github, ZEBRA))
    assert found.identifier is evident


def test_an_identifier_unlike_any_word_is_evidence_however_common_it_is() -> None:
    query = a_query(a_term("PROJ-7", 90, kind="identifier", idf=0.1))
    assert evidence(a_row(1, 0.1, matched=0b1), query).identifier


def test_the_similarity_is_the_rows_own() -> None:
    assert evidence(a_row(1, 0.42), a_query(TEAM)) == Evidence(0.42, 0.0, identifier=False)


def test_missing_terms_are_told_by_slot() -> None:
    rare = rare_terms(a_query(ZEBRA, TEAM, MIGRATION, PATTERNS))
    assert rare.missing(0b0100) == (0, 3)
    assert rare.missing(0b1111) == ()
