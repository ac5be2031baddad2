"""Which legs run, and the sentence about each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from loom_server.errors import InvalidInput
from loom_server.model.query import Query, SearchMode, SearchRequest
from loom_server.plan.defaults import PlanDefaults
from loom_server.plan.legs import LegChoice, allowed_legs, choose_legs
from stages import a_query, a_request, a_term

QUERY = a_query(a_term("colour"), a_term("car"))


def choose(mode: SearchMode, request: SearchRequest, query: Query = QUERY) -> LegChoice:
    return choose_legs(mode, request, query, allowed_legs(request), PlanDefaults())


def test_a_large_namespace_is_scanned_codes_first() -> None:
    small, large = (replace(QUERY, documents=rows) for rows in (199_999, 200_000))
    assert [leg.form for leg in choose("hybrid", a_request(), small).legs] == ["exact"] * 3
    choice = choose("hybrid", a_request(), large)
    assert [leg.form for leg in choice.legs] == ["codes", "exact", "exact"]
    assert "The leg fact scans codes first: the namespace holds 200000 rows." in choice.reasons


def names(choice: LegChoice) -> list[str]:
    return [leg.name for leg in choice.legs]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("semantic", ["fact", "lexical", "bm25"]),
        ("rrf", ["fact", "lexical", "bm25"]),
        ("hybrid", ["fact", "lexical", "bm25"]),
        ("bm25_hybrid", ["fact", "lexical", "bm25"]),
        ("lexical", ["lexical", "bm25"]),
    ],
)
def test_every_leg_runs_but_fact_in_the_lexical_mode(mode: SearchMode, expected: list[str]) -> None:
    choice = choose(mode, a_request())
    assert names(choice) == expected
    assert len(choice.reasons) == 3


def test_the_sentence_tells_whether_a_leg_orders_or_nominates() -> None:
    reasons = choose("bm25_hybrid", a_request()).reasons
    assert reasons[0] == "The leg fact runs, for the mode orders by it: up to 100 candidates, weight 1."
    assert reasons[1] == "The leg lexical nominates up to 100 candidates."


def test_legs_of_the_request_restrict() -> None:
    choice = choose("hybrid", a_request(legs=("bm25", "fact")))
    assert names(choice) == ["fact", "bm25"]
    assert "The leg lexical is left out: the request's legs do not name it." in choice.reasons


def test_a_weight_of_zero_leaves_a_leg_out() -> None:
    choice = choose("rrf", a_request(leg_weights=(("lexical", 0.0),)))
    assert names(choice) == ["fact", "bm25"]
    assert "The leg lexical is left out: its weight is zero." in choice.reasons
    assert choice.weights == (("lexical", 0.0),)


def test_a_weight_of_a_nominating_leg_is_said_to_move_nothing() -> None:
    reasons = choose("semantic", a_request(leg_weights=(("bm25", 3.0),))).reasons
    assert "moves nothing" in reasons[2]


def test_candidates_set_the_quota_and_weights_the_weight() -> None:
    choice = choose("rrf", a_request(candidates=(("fact", 7),), leg_weights=(("fact", 2.5),)))
    assert (choice.legs[0].quota, choice.legs[0].weight) == (7, 2.5)
    assert (choice.legs[1].quota, choice.legs[1].weight) == (100, 1.0)


@pytest.mark.parametrize("query", [a_query(a_term("car"), vector=False)])
def test_without_a_vector_the_fact_leg_is_left_out(query: Query) -> None:
    choice = choose("semantic", a_request(), query)
    assert names(choice) == ["lexical", "bm25"]
    assert choice.reasons[0] == "The leg fact is left out: the query has no vector."


def test_without_terms_the_lexical_legs_are_left_out() -> None:
    choice = choose("hybrid", a_request(), a_query())
    assert names(choice) == ["fact"]
    assert choice.reasons[1:] == (
        "The leg lexical is left out: the query has no term.",
        "The leg bm25 is left out: the query has no term.",
    )


def test_stop_words_alone_are_no_work_for_bm25() -> None:
    the, car = a_term("the", kind="stop"), a_term("car")
    assert names(choose("hybrid", a_request(), a_query(the))) == ["fact", "lexical"]
    assert names(choose("hybrid", a_request(), a_query(the, car))) == ["fact", "lexical", "bm25"]


def test_a_query_of_nothing_leaves_no_leg_and_is_no_error() -> None:
    assert names(choose("semantic", a_request(), a_query(vector=False))) == []


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"legs": ("fact", "chunk")}, "legs.1"),
        ({"leg_weights": (("graph", 1.0),)}, "leg_weights.graph"),
        ({"leg_weights": (("fact", -0.1),)}, "leg_weights.fact"),
        ({"leg_weights": (("fact", 100.5),)}, "leg_weights.fact"),
        ({"leg_weights": (("fact", float("nan")),)}, "leg_weights.fact"),
        ({"leg_weights": (("fact", float("inf")),)}, "leg_weights.fact"),
        ({"candidates": (("digest", 5),)}, "candidates.digest"),
        ({"candidates": (("fact", 0),)}, "candidates.fact"),
        ({"candidates": (("fact", 1_001),)}, "candidates.fact"),
    ],
)
def test_what_no_leg_can_take_is_refused_with_its_path(fields: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        allowed_legs(a_request(**fields))
    assert [error.path for error in caught.value.errors] == [path]


@pytest.mark.parametrize(
    ("mode", "fields", "path"),
    [
        ("semantic", {"legs": ()}, "legs"),
        ("lexical", {"legs": ("fact",)}, "legs"),
        ("semantic", {"leg_weights": (("fact", 0.0), ("lexical", 0.0), ("bm25", 0.0))}, "leg_weights"),
        ("semantic", {"legs": ("bm25",), "leg_weights": (("bm25", 0.0),)}, "leg_weights"),
    ],
)
def test_a_request_that_leaves_its_mode_no_leg_is_refused(mode: SearchMode, fields: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        choose(mode, a_request(**fields))
    assert [error.path for error in caught.value.errors] == [path]
