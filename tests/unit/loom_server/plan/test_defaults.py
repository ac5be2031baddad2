"""The namespace's preferences lie over the settings."""

from __future__ import annotations

import pytest

from loom_server.plan.defaults import PlanDefaults
from loom_server.settings import Settings


def settings(**given: object) -> Settings:
    return Settings.model_validate(given)


def test_without_preferences_the_settings_decide() -> None:
    defaults = PlanDefaults.of(settings(memory_search_default_mode="hybrid", memory_search_per_key_cap=3))
    assert (defaults.search_mode, defaults.per_key_cap) == ("hybrid", 3)
    assert defaults.source("search_mode") == "the setting"


@pytest.mark.parametrize(
    ("field", "value"), [("search_mode", "rrf"), ("top_k", 25), ("floor_mode", "ids_only")], ids=str
)
def test_a_preference_lies_over_the_setting(field: str, value: object) -> None:
    defaults = PlanDefaults.of(settings(), {field: value})
    assert getattr(defaults, field) == value
    assert defaults.source(field) == "the namespace"


def test_a_preference_of_null_is_none() -> None:
    defaults = PlanDefaults.of(settings(), {"search_mode": None})
    assert (defaults.search_mode, defaults.source("search_mode")) == ("semantic", "the setting")


def test_a_stored_top_k_above_the_ceiling_is_lowered_to_it() -> None:
    assert PlanDefaults.of(settings(memory_search_top_k_ceiling=50), {"top_k": 120}).top_k == 50


def test_each_line_and_bound_comes_from_its_setting() -> None:
    given = settings(
        memory_search_min_similarity=0.1,
        memory_search_abstain_threshold=0.4,
        memory_search_abstain_top_sim_scope="window",
        memory_search_top_k=7,
        memory_search_leg_quota=30,
    )
    defaults = PlanDefaults.of(given)
    assert (defaults.min_similarity, defaults.abstain_threshold, defaults.top_similarity) == (0.1, 0.4, "window")
    assert (defaults.top_k, defaults.leg_quota) == (7, 30)
