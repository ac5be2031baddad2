"""Answers, abstains, and which kind of empty."""

from __future__ import annotations

import pytest

from loom_server.gate.verdict import PAGE_EXPIRED, judge
from loom_server.model.window import Drop, DropStage
from stages import a_plan, a_query, a_row, a_term, a_window

QUERY = a_query(a_term("zebra", 0, idf=5.3), a_term("migration", 1, idf=4.2), a_term("team", 60, idf=0.5))
TICKET = a_query(a_term("PROJ-7", 2, kind="identifier", idf=3.7))
BLIND = a_query(*QUERY.terms, vector=False)


def test_a_near_first_row_opens_the_gate() -> None:
    verdict = judge(a_window(a_row(1, 0.65)), QUERY, a_plan())
    assert (verdict.abstain, verdict.code, verdict.risk) == (False, None, "medium")
    assert verdict.confidence == pytest.approx(0.75)
    assert verdict.reason == "The first row's similarity 0.65 reaches the threshold 0.30."


def test_a_far_first_row_closes_it_and_says_what_is_missing() -> None:
    verdict = judge(a_window(a_row(1, 0.21, matched=0b110)), QUERY, a_plan())
    assert (verdict.abstain, verdict.code, verdict.risk) == (True, "below_threshold", "abstain")
    assert verdict.reason == "The first row's similarity 0.21 is under the threshold 0.30. It does not say: zebra."
    assert verdict.confidence < 0.5


def test_a_row_that_says_all_rare_terms_has_nothing_missing_to_name() -> None:
    query = a_query(a_term("team", 60))
    assert judge(a_window(a_row(1, 0.1)), query, a_plan()).reason.endswith("under the threshold 0.30.")


def test_a_long_list_of_missing_terms_is_cut() -> None:
    query = a_query(*(a_term(f"word{n}", 0) for n in range(8)))
    reason = judge(a_window(a_row(1, 0.1)), query, a_plan()).reason
    assert reason.endswith("It does not say: word0, word1, word2, word3, word4 and 3 more.")


def test_a_whole_identifier_opens_the_gate_whatever_the_cosine() -> None:
    verdict = judge(a_window(a_row(1, 0.0, matched=0b1)), TICKET, a_plan())
    assert (verdict.abstain, verdict.risk, verdict.confidence) == (False, "low", 0.8)
    assert verdict.reason == "The first row carries an identifier of the query whole."


def test_all_rare_terms_open_the_gate() -> None:
    verdict = judge(a_window(a_row(1, 0.0, matched=0b011)), QUERY, a_plan())
    assert (verdict.abstain, verdict.risk, verdict.confidence) == (False, "medium", 0.6)
    assert verdict.reason == "The first row carries every rare term of the query."


def test_a_later_page_is_judged_by_the_first_row_of_all() -> None:
    window = a_window(a_row(2, 0.1), before=(a_row(1, 0.65),), best_similarity=0.65)
    assert judge(window, QUERY, a_plan()) == judge(a_window(a_row(1, 0.65)), QUERY, a_plan())
    assert judge(a_window(before=(a_row(1, 0.65),)), QUERY, a_plan()).code is None


def test_an_expired_page_is_an_abstain_of_no_confidence() -> None:
    assert (PAGE_EXPIRED.abstain, PAGE_EXPIRED.code, PAGE_EXPIRED.risk) == (True, "page_expired", "abstain")
    assert PAGE_EXPIRED.confidence == 0.0


def test_by_default_a_better_cosine_at_rank_two_is_not_read() -> None:
    window = a_window(a_row(1, 0.1), a_row(2, 0.9))
    assert judge(window, QUERY, a_plan()).abstain
    open_by_window = judge(window, QUERY, a_plan(top_similarity="window"))
    assert not open_by_window.abstain
    assert open_by_window.reason == "The window's best similarity 0.90 reaches the threshold 0.30."


def test_the_best_of_the_window_counts_rows_beyond_the_page() -> None:
    window = a_window(a_row(1, 0.1), best_similarity=0.9)
    assert not judge(window, QUERY, a_plan(top_similarity="window")).abstain


@pytest.mark.parametrize(("matched", "abstain"), [(0b000, True), (0b010, True), (0b001, False), (0b011, False)])
def test_without_a_vector_words_alone_are_judged(matched: int, abstain: bool) -> None:
    # zebra alone is 5.3 of 9.5, migration alone 4.2 of 9.5
    assert judge(a_window(a_row(1, 0.0, matched=matched)), BLIND, a_plan()).abstain is abstain


def test_a_verdict_by_words_alone_says_so() -> None:
    closed = judge(a_window(a_row(1, 0.0, matched=0b010)), BLIND, a_plan()).reason
    assert closed == (
        "No query vector, so words alone were read: the first row's share of the rare terms, 0.44, is under 0.50."
        " It does not say: zebra."
    )
    opened = judge(a_window(a_row(1, 0.0, matched=0b001)), BLIND, a_plan()).reason
    assert opened == (
        "No query vector, so words alone were read: the first row's share of the rare terms, 0.56, reaches 0.50."
    )


def test_an_empty_namespace_is_named() -> None:
    verdict = judge(a_window(), a_query(a_term("car", 0), documents=0), a_plan())
    assert (verdict.abstain, verdict.code, verdict.confidence, verdict.risk) == (True, "no_match", 0.0, "abstain")
    assert verdict.reason == "The namespace holds no memory yet."


def test_rows_of_which_none_matched_are_named() -> None:
    assert judge(a_window(), QUERY, a_plan()).reason == (
        "The namespace holds memories, but none in the scope and filters of this search matched."
    )


def test_a_query_without_anything_to_search_by_is_named() -> None:
    reason = judge(a_window(), a_query(vector=False), a_plan(legs=())).reason
    assert reason == "The query has nothing to search by: no vector and no term."


@pytest.mark.parametrize(
    ("stages", "reason"),
    [
        (("floor", "floor"), "All 2 rows found were left out: 2 under the floor while floor_mode is drop."),
        (("excluded",), "The one row found was left out: 1 in exclude_keys."),
        (
            ("superseded", "expired", "superseded"),
            "All 3 rows found were left out: 2 superseded by a later version, 1 expired.",
        ),
    ],
)
def test_rows_that_all_fell_are_counted_by_stage(stages: tuple[DropStage, ...], reason: str) -> None:
    fallen = tuple(Drop(row_id, stage, "") for row_id, stage in enumerate(stages))
    assert judge(a_window(ranked=len(stages), fallen=fallen), QUERY, a_plan()).reason == reason
