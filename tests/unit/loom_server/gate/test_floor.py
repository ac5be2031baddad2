"""The two lines, and who is under neither."""

from __future__ import annotations

import pytest

from loom_server.gate.floor import below_threshold, draw_lines
from loom_server.model.query import Query
from loom_server.model.verdict import Evidence
from loom_server.model.window import Lines
from stages import a_plan, a_query, a_row, a_term

# 100 rows: `anna` is common, the others are rare
QUERY = a_query(a_term("anna", 50, idf=0.7), a_term("passport", 1, idf=4.2), a_term("number", 0, idf=5.3))
TICKET = a_query(a_term("PROJ-7", 90, kind="identifier", idf=0.1))


def line(query: Query, cosine: float, matched: int = 0, **fields: object) -> Lines:
    (drawn,) = draw_lines([a_row(1, cosine, matched=matched)], query, a_plan(**fields))
    return drawn


@pytest.mark.parametrize(
    ("cosine", "below_floor", "below"),
    [(0.219, True, True), (0.22, False, True), (0.299, False, True), (0.30, False, False), (-1.0, True, True)],
)
def test_a_row_on_a_line_is_not_below_it(cosine: float, below_floor: bool, below: bool) -> None:
    assert line(QUERY, cosine) == Lines(below_floor, below)


def test_a_floor_above_the_threshold_is_a_line_of_its_own() -> None:
    assert line(QUERY, 0.4, floor=0.5) == Lines(below_floor=True, below_threshold=False)


def test_all_rare_terms_lift_a_row_over_both_lines() -> None:
    assert line(QUERY, 0.0, 0b110) == Lines(below_floor=False, below_threshold=False, evidence=("rare_terms",))


def test_some_rare_terms_lift_nothing() -> None:
    assert line(QUERY, 0.1, 0b011) == Lines(below_floor=True, below_threshold=True)


def test_a_whole_identifier_lifts_a_row_however_common_it_is() -> None:
    assert line(TICKET, 0.0, 0b1) == Lines(below_floor=False, below_threshold=False, evidence=("identifier",))


def test_both_kinds_of_evidence_are_named() -> None:
    query = a_query(a_term("PROJ-7", 1, kind="identifier"))
    assert line(query, 0.9, 0b1).evidence == ("identifier", "rare_terms")


def test_every_row_gets_its_own_lines_in_order() -> None:
    drawn = draw_lines([a_row(1, 0.1), a_row(2, 0.25), a_row(3, 0.9)], QUERY, a_plan())
    assert [(lines.below_floor, lines.below_threshold) for lines in drawn] == [
        (True, True),
        (False, True),
        (False, False),
    ]


@pytest.mark.parametrize(
    ("matched", "below"),
    [(0b000, True), (0b010, True), (0b100, False), (0b110, False)],
    ids=["none", "4.2 of 9.5", "5.3 of 9.5", "all"],
)
def test_without_a_vector_the_words_draw_the_threshold_and_nothing_the_floor(matched: int, below: bool) -> None:
    blind = a_query(*QUERY.terms, vector=False)
    drawn = line(blind, 0.0, matched)
    assert (drawn.below_floor, drawn.below_threshold) == (False, below)


def test_the_line_for_words_alone_is_one_half() -> None:
    assert not below_threshold(Evidence(0.0, 0.5, identifier=False), None)
    assert below_threshold(Evidence(0.9, 0.499, identifier=False), None)
