"""Worked numbers by hand, and trec_eval's own conventions."""

from __future__ import annotations

from math import log2

import pytest

from loom_server.evaluation.measures import MEASURES, as_scores, measured, percentile


def one(ranking: str, relevant: dict[str, int]) -> dict[str, float]:
    values = measured({"q": tuple(ranking)}, {"q": relevant})
    return {name: values[name]["q"] for name in MEASURES}


def test_worked_numbers() -> None:
    got = one("xayb", {"a": 3, "b": 1, "c": 2})
    dcg = 3 / log2(3) + 1 / log2(5)
    ideal = 3 / log2(2) + 2 / log2(3) + 1 / log2(4)
    assert got == pytest.approx({"nDCG@10": dcg / ideal, "R@5": 2 / 3, "R@10": 2 / 3, "RR@10": 0.5, "Success@1": 0.0})


def test_gains_are_linear_as_in_trec_eval() -> None:
    # Exponential gains would give (1 + 3 / log2(3)) / (3 + 1 / log2(3)).
    assert one("ba", {"a": 2, "b": 1})["nDCG@10"] == pytest.approx((1 + 2 / log2(3)) / (2 + 1 / log2(3)))


def test_recall_divides_by_all_relevant_keys_even_beyond_k() -> None:
    relevant = dict.fromkeys("abcdefghijkl", 1)
    got = one("abcdefghij", relevant)
    assert (got["R@5"], got["R@10"]) == pytest.approx((5 / 12, 10 / 12))
    assert got["nDCG@10"] == pytest.approx(1.0)


def test_nothing_beyond_rank_ten_counts() -> None:
    assert one("abcdefghijz", {"z": 1}) == dict.fromkeys(MEASURES, 0.0)
    assert one("abcdefghiz", {"z": 1})["RR@10"] == pytest.approx(0.1)


def test_a_question_without_rows_counts_nothing_and_still_counts() -> None:
    values = measured({"q": ("a",), "empty": ()}, {"q": {"a": 1}, "empty": {"a": 1}, "absent": {"a": 1}})
    assert values["nDCG@10"] == {"q": 1.0, "empty": 0.0, "absent": 0.0}


def test_a_question_without_relevant_keys_has_no_measure() -> None:
    assert measured({"q": ("a",)}, {"q": {}}) == {name: {} for name in MEASURES}


def test_the_order_that_was_served_is_measured_whatever_the_keys_are_called() -> None:
    # With equal scores trec_eval would put the later name first.
    assert one("az", {"a": 1})["Success@1"] == 1.0
    assert one("za", {"a": 1})["Success@1"] == 0.0


def test_equal_scores_would_be_broken_by_name_which_is_why_ranks_are_handed_over() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    run = {"q": {"a": 1.0, "z": 1.0}}
    assert ir_measures.calc_aggregate([ir_measures.parse_measure("Success@1")], {"q": {"a": 1}}, run) == {
        ir_measures.parse_measure("Success@1"): 0.0
    }


def test_a_key_that_stands_twice_counts_at_its_first_place() -> None:
    assert as_scores("aba") == {"a": 2.0, "b": 1.0}


def test_percentiles_are_nearest_ranks() -> None:
    assert [percentile([4, 1, 3, 2], share) for share in (0.25, 0.5, 0.51, 0.95, 1.0)] == [1, 2, 3, 4, 4]
    assert percentile([7.0], 0.01) == 7.0
    assert percentile([], 0.5) == 0.0
