"""Precedence, the shape rule, the bounds, and a sentence for each choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from loom_server.errors import InvalidInput
from loom_server.model.plan import Plan
from loom_server.model.query import Query
from loom_server.plan.defaults import PlanDefaults
from loom_server.plan.planner import make_plan
from stages import a_query, a_request, a_term

PROSE = a_query(a_term("colour"), a_term("car"))
IDENTIFIER = a_query(
    a_term("broken"), a_term("PROJ-7", kind="identifier"), a_term("why"), a_term("today"), a_term("again")
)
PATH = a_query(a_term("src"), text="src/app/main")
PATH_WITH_IDENTIFIER = a_query(a_term("app/main.py", kind="identifier"), a_term("app", kind="part"))


def plan(query: Query = PROSE, defaults: PlanDefaults | None = None, **fields: Any) -> Plan:
    return make_plan(a_request(**fields), query, defaults or PlanDefaults())


def said(made: Plan, words: str) -> bool:
    return any(words in reason for reason in made.reasons)


def test_the_request_decides_over_the_default() -> None:
    made = plan(search_mode="rrf", top_k=3, floor_mode="drop", min_similarity=0.5, alpha=0.2, rrf_k=10)
    assert (made.mode, made.top_k, made.floor_mode, made.floor) == ("rrf", 3, "drop", 0.5)
    assert (made.alpha, made.rrf_k) == (0.2, 10)
    assert made.reasons[0] == "Mode rrf: the request asks for it."


def test_defaults_fill_what_the_request_leaves_open() -> None:
    defaults = PlanDefaults(search_mode="hybrid", top_k=12, floor_mode="ids_only", preferred=frozenset({"search_mode"}))
    made = plan(defaults=defaults)
    assert (made.mode, made.top_k, made.floor_mode, made.floor) == ("hybrid", 12, "ids_only", 0.22)
    assert (made.alpha, made.rrf_k, made.tier) == (0.5, 60, "scalar")
    assert made.reasons[0] == "Mode hybrid: the default of the namespace."
    assert said(made, "Floor 0.22 of the setting; rows under it: ids_only, by the setting.")


def test_zero_is_a_choice_and_not_a_gap() -> None:
    made = plan(search_mode="hybrid", alpha=0.0, min_similarity=0.0)
    assert (made.alpha, made.floor) == (0.0, 0.0)


@pytest.mark.parametrize("preferred", [frozenset[str](), frozenset({"search_mode"})])
def test_an_identifier_takes_the_lexical_fusion_over_any_default(preferred: frozenset[str]) -> None:
    made = plan(IDENTIFIER, PlanDefaults(search_mode="semantic", preferred=preferred))
    assert made.mode == "bm25_hybrid"
    assert made.reasons[0] == "Mode bm25_hybrid instead of semantic: the query holds the identifier PROJ-7."
    assert made.identifiers == 0b10


def test_an_identifier_does_not_overrule_the_request() -> None:
    assert plan(IDENTIFIER, search_mode="semantic").mode == "semantic"


@pytest.mark.parametrize("fields", [{"legs": ("fact",)}, {"leg_weights": (("bm25", 0.0),)}])
def test_no_lexical_fusion_without_its_leg(fields: dict[str, Any]) -> None:
    assert plan(IDENTIFIER, **fields).mode == "semantic"


def test_code_halves_the_lexical_order_of_rrf() -> None:
    made = plan(PATH, search_mode="rrf")
    assert made.lexical_weight == 0.5
    assert said(made, "The lexical order counts 0.5 of its weight: the query looks like code or a path.")


def test_rows_with_the_whole_identifier_are_said_to_keep_their_weight() -> None:
    made = plan(PATH_WITH_IDENTIFIER, search_mode="rrf")
    assert (made.lexical_weight, made.identifiers) == (0.5, 0b1)
    assert said(made, "but for rows that carry a whole identifier of it")


def test_the_request_may_switch_the_adaptive_weight_off() -> None:
    made = plan(PATH, search_mode="rrf", rrf_adaptive_lexical=False)
    assert made.lexical_weight == 1.0
    assert said(made, "rrf_adaptive_lexical is off")


@pytest.mark.parametrize(("query", "mode"), [(PROSE, "rrf"), (PATH, "hybrid")])
def test_prose_and_other_modes_keep_the_full_weight(query: Query, mode: str) -> None:
    assert plan(query, search_mode=mode).lexical_weight == 1.0


@pytest.mark.parametrize("vector", [None, np.zeros(4, dtype=np.float32)], ids=["none", "zeros"])
@pytest.mark.parametrize("mode", ["semantic", "rrf", "hybrid", "bm25_hybrid"])
def test_a_mode_with_cosines_says_that_it_falls_back(vector: np.ndarray | None, mode: str) -> None:
    made = plan(Query("car", (a_term("car"),), vector, 100), search_mode=mode)
    assert [leg.name for leg in made.legs] == ["lexical", "bm25"]
    assert made.reasons[1] == f"The query has no vector, so {mode} falls back on the lexical order."


def test_the_lexical_mode_has_nothing_to_fall_back_from() -> None:
    assert not said(plan(a_query(a_term("car"), vector=False), search_mode="lexical"), "falls back")


def test_a_query_of_nothing_is_planned_without_legs() -> None:
    made = plan(a_query(vector=False))
    assert made.legs == ()
    assert said(made, "No leg can run")


def test_the_window_has_one_size_whatever_the_page() -> None:
    # three reserved shares of 100 against a ceiling of 200
    assert {plan(top_k=top_k).window for top_k in (1, 10, 200)} == {300}


def test_the_window_is_never_smaller_than_the_largest_page() -> None:
    assert plan(candidates=(("fact", 5), ("lexical", 5), ("bm25", 5))).window == 200


def test_a_page_that_the_legs_may_not_fill_is_said() -> None:
    assert said(plan(top_k=150), "top_k 150 may stay unfilled: the legs bring at most 300 together")
    assert not said(plan(top_k=100), "unfilled")


def test_fields_of_other_modes_are_said_to_move_nothing() -> None:
    made = plan(search_mode="semantic", alpha=0.3, rrf_k=5)
    assert said(made, "alpha moves nothing: only the mode hybrid reads it.")
    assert said(made, "rrf_k moves nothing: only the mode rrf reads it.")
    assert not said(plan(search_mode="hybrid", alpha=0.3), "moves nothing")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("top_k", 0),
        ("top_k", 201),
        ("alpha", -0.01),
        ("alpha", 1.01),
        ("alpha", float("nan")),
        ("rrf_k", 0),
        ("rrf_k", 10_001),
        ("min_similarity", -1.01),
        ("min_similarity", float("nan")),
    ],
)
def test_a_value_out_of_its_bound_is_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        make_plan(a_request(**{field: value}), PROSE, PlanDefaults())
    assert [error.path for error in caught.value.errors] == [field]


def test_the_refusal_of_top_k_names_the_ceiling() -> None:
    with pytest.raises(InvalidInput, match="top_k: must be from 1 to 50, the ceiling"):
        plan(defaults=PlanDefaults(top_k_ceiling=50), top_k=51)


def test_the_gates_settings_travel_with_the_plan() -> None:
    made = plan(defaults=PlanDefaults(abstain_threshold=0.4, top_similarity="window", per_key_cap=2))
    assert (made.abstain_threshold, made.top_similarity, made.per_key_cap) == (0.4, "window", 2)
