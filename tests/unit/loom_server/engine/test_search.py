"""The pipeline over a real store: what is served, in which order, under which verdict."""

from __future__ import annotations

import time
from math import fsum

import pytest

from loom_server.errors import InvalidInput
from loom_server.model.query import SearchMode
from loom_server.service.services import Services
from spaces import Space

ROWS = {
    "db/primary": "The primary database runs PostgreSQL 16 on host atlas-3",
    "db/config": "Connection limits stand in pg_hba.conf on the primary",
    "team/lead": "Ana Moreira leads the storage team from Lisbon",
    "team/oncall": "Bruno carries the pager through the nights of May",
    "food/lunch": "The canteen serves soup on Fridays",
    "ticket/4711": "PROJ-4711 is closed: the cache forgot its keys",
    "ticket/4712": "PROJ-4712 is open: the queue grows at night",
}
MODES: tuple[SearchMode, ...] = ("semantic", "rrf", "hybrid", "bm25_hybrid", "lexical")


@pytest.fixture
def space(services: Services, org: str) -> Space:
    filled = Space(services, org)
    filled.fill(ROWS)
    return filled


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_finds_the_answer(space: Space, mode: str) -> None:
    answer = space.search("Who leads the storage team?", search_mode=mode)
    assert answer.results[0].memory_key == "team/lead"
    assert (answer.abstain, answer.search_mode) == (False, mode)


def test_an_exact_identifier_is_found_and_no_neighbour_of_it(space: Space) -> None:
    answer = space.search("what about PROJ-4711?")
    assert answer.results[0].memory_key == "ticket/4711"
    assert answer.search_mode == "bm25_hybrid"
    assert "identifier" in answer.retrieval_plan
    assert not answer.results[0].below_threshold


def test_an_off_topic_question_abstains_and_says_why(space: Space) -> None:
    answer = space.search("How do volcanoes form beneath the ocean?")
    assert (answer.abstain, answer.abstain_code, answer.retrieval_risk) == (True, "below_threshold", "abstain")
    assert "0.30" in answer.abstain_reason
    assert answer.results, "an abstain still returns its rows as floor_mode says"


def test_an_empty_namespace_costs_no_statement(space: Space) -> None:
    empty = space.other(namespace="empty")
    empty.search("anything at all")
    answer = empty.search("anything at all")
    assert (answer.abstain_code, answer.results) == ("no_match", ())
    assert answer.abstain_reason == "The namespace holds no memory yet."
    assert answer.retrieval_work.statements == 0


def test_a_small_namespace_takes_one_statement_a_leg_and_one_for_rows_not_kept(space: Space) -> None:
    space.services.searcher.kept.forget()
    space.search("something else", legs=["lexical"])  # the statistics are read once
    answer = space.search("Who leads the storage team?")
    assert answer.retrieval_work.statements == 3
    assert space.search("Who leads the storage team?").retrieval_work.statements == 2
    assert {"query", "plan", "legs", "pool", "hydrate", "rank"} <= set(answer.retrieval_work.ms)


def test_a_row_counts_in_the_very_next_search(space: Space) -> None:
    assert space.search("zanzibar ferry", search_mode="lexical").results == ()
    space.set("trip", "The ferry to Zanzibar leaves at dawn")
    hit = space.search("zanzibar ferry", search_mode="lexical").results[0]
    assert (hit.memory_key, hit.rank_score) == ("trip", 1.0)


def test_a_superseded_value_is_hidden_unless_asked_for(space: Space) -> None:
    space.set("db/primary", "The primary database moved to host helios-9")
    assert space.search("which host is the primary database on").results[0].content_excerpt.endswith("helios-9")
    shown = space.search("which host is the primary database on", include_superseded=True, top_k=20)
    versions = {(hit.version, hit.status) for hit in shown.results if hit.memory_key == "db/primary"}
    assert versions == {(1, "superseded"), (2, "live")}


def test_a_kept_row_is_not_served_as_it_was_before_its_end(space: Space) -> None:
    asked = "which host is the primary database on"
    for version in range(2, 5):
        space.search(asked, top_k=20)
        space.set("db/primary", f"The primary database moved to host number {version}")
        hits = [hit for hit in space.search(asked, top_k=20).results if hit.memory_key == "db/primary"]
        assert [(hit.version, hit.status) for hit in hits] == [(version, "live")]
    space.delete("db/primary")
    assert "db/primary" not in space.keys(asked, top_k=20)


def test_a_deleted_row_is_gone_and_its_words_no_longer_count(space: Space) -> None:
    assert space.delete("ticket/4711").tombstoned
    assert "ticket/4711" not in space.keys("PROJ-4711", top_k=20)
    answer = space.search("PROJ-4711")
    assert (answer.abstain, answer.abstain_code) == (True, "entity_absent")


def test_the_neighbour_of_an_unknown_identifier_does_not_answer(space: Space) -> None:
    answer = space.search("what is the state of PROJ-9999?")
    assert (answer.abstain_code, answer.results[0].memory_key[:6]) == ("entity_absent", "ticket")
    assert "proj-9999" in answer.abstain_reason
    assert answer.retrieval_confidence < 0.5


@pytest.mark.parametrize("mode", MODES)
def test_components_sum_to_the_score_to_the_last_bit(space: Space, mode: str) -> None:
    for hit in space.search("the storage team of the primary database", search_mode=mode, explain=True).results:
        assert hit.score_components is not None
        assert fsum(hit.score_components.values()) == hit.rank_score


@pytest.mark.parametrize("mode", MODES)
def test_an_explained_search_returns_the_same_hits(space: Space, mode: str) -> None:
    explained_only = {"matched_terms", "explanation", "score_components", "legs"}
    plain = space.search("nights of the storage team", search_mode=mode)
    explained = space.search("nights of the storage team", search_mode=mode, explain=True)
    assert [hit.model_dump_json(exclude=explained_only) for hit in plain.results] == [
        hit.model_dump_json(exclude=explained_only) for hit in explained.results
    ]
    assert all(hit.legs for hit in explained.results)
    assert not any(hit.legs for hit in plain.results)


def test_matched_terms_stand_where_the_offsets_say(space: Space) -> None:
    hit = space.search("who leads storage", explain=True).results[0]
    assert hit.matched_terms is not None
    found = {term.term: [hit.content_excerpt[a:b] for a, b in term.offsets] for term in hit.matched_terms}
    assert found == {"leads": ["leads"], "storage": ["storage"]}


def test_a_smaller_page_is_the_head_of_a_larger_one(space: Space) -> None:
    whole = space.keys("primary database host", top_k=7, min_similarity=-1)
    for size in range(1, 8):
        assert space.keys("primary database host", top_k=size, min_similarity=-1) == whole[:size]


@pytest.mark.parametrize(("floor_mode", "bodies"), [("readmit", True), ("ids_only", False), ("drop", None)])
def test_rows_under_the_floor_go_as_floor_mode_says(space: Space, floor_mode: str, bodies: bool | None) -> None:
    answer = space.search("soup on Fridays", min_similarity=0.5, floor_mode=floor_mode)
    below = [hit for hit in answer.results if hit.below_floor]
    assert answer.results[0].memory_key == "food/lunch"
    assert answer.below_floor == len(ROWS) - 1
    assert len(below) == (0 if bodies is None else len(ROWS) - 1)
    assert all(bool(hit.content_excerpt) is bodies for hit in below)


def test_a_row_with_the_identifier_is_under_neither_line(space: Space) -> None:
    hit = space.search("PROJ-4712", min_similarity=0.99).results[0]
    assert (hit.memory_key, hit.below_floor, hit.below_threshold) == ("ticket/4712", False, False)


def test_excluded_keys_make_room_for_others(space: Space) -> None:
    first, second = space.keys("primary database", top_k=2)
    assert space.keys("primary database", top_k=1, exclude_keys=[first]) == [second]


def test_excluded_keys_do_not_crowd_out_what_stands_behind_them(space: Space) -> None:
    space.fill({f"copy/{n:03}": f"The vault opens at nine, said note {n}" for n in range(130)})
    space.set("last", "The vault, by one old note, opens at about nine or so")
    seen: list[str] = []
    while page := space.keys("the vault opens at nine", exclude_keys=seen, top_k=50, search_mode="lexical"):
        seen += page
    assert len(seen) == len(set(seen))
    assert {"last", *(f"copy/{n:03}" for n in range(130))} <= set(seen)


def test_expired_rows_do_not_crowd_out_what_stands_behind_them(space: Space) -> None:
    items = [{"memory_key": f"old/{n}", "value": f"The vault opens at nine, {n}", "ttl_seconds": 1} for n in range(130)]
    space.set_many(items)
    space.set("still", "The vault opens at about nine or so")
    time.sleep(1.1)
    for mode in MODES:
        assert space.keys("the vault opens at nine", search_mode=mode)[0] == "still"


@pytest.mark.parametrize(
    "value", [3, "3", 1.0, 1e5, 1e22, -0.5, True, "line\u2028break", "ü\\\"'", ["a", 1], {"b": None}]
)
def test_metadata_is_found_by_the_value_that_was_stored(space: Space, value: object) -> None:
    space.set("with", "The vault opens at nine", metadata={"m": value, "other": 1})
    space.set("without", "The vault opens at ten", metadata={"other": value})
    assert space.keys("vault opens", metadata={"m": value}) == ["with"]


def test_one_key_of_many_writers_is_capped(space: Space) -> None:
    for version in range(3):
        space.set("shared", f"The deploy window is on Tuesday, note {version}", agent="one")
    space.set("shared", "The deploy window is on Tuesday", agent="two")
    hits = [hit for hit in space.search("deploy window Tuesday").results if hit.memory_key == "shared"]
    assert {hit.agent for hit in hits} == {"one", "two"}, "a key belongs to its writer"


def test_filters_narrow_every_leg(space: Space) -> None:
    space.set("note/a", "The cache holds tokens", tags=["infra"], category="cache", confidence=0.2)
    space.set("note/b", "The cache holds cookies", tags=["food", "infra"], memory_type="preference")
    assert set(space.keys("cache", tags=["infra"])) == {"note/a", "note/b"}
    assert space.keys("cache", tags_all=["food", "infra"]) == ["note/b"]
    assert space.keys("cache", tags_any=["infra"], tags_none=["food"]) == ["note/a"]
    assert space.keys("cache", category="cache") == ["note/a"]
    assert space.keys("cache", memory_type="preference") == ["note/b"]
    assert "note/a" not in space.keys("cache", quality_filter=True, top_k=20)


def test_metadata_and_times_filter(space: Space) -> None:
    space.set("m/1", "The vault opens at nine", metadata={"floor": 3}, valid_at="2026-01-01T00:00:00Z")
    space.set("m/2", "The vault opens at ten", metadata={"floor": "3"}, valid_at="2026-02-01T00:00:00Z")
    assert space.keys("vault opens", metadata={"floor": 3}) == ["m/1"]
    assert space.keys("vault opens", valid_from="2026-01-15T00:00:00Z") == ["m/2"]
    assert space.keys("vault opens", created_before="2020-01-01T00:00:00Z") == []


def test_a_user_is_a_filter_only_when_asked(space: Space) -> None:
    space.set("mine", "My favourite colour is teal", user_id="u1", session_id="s1")
    space.set("none", "The favourite colour of the team is teal")
    assert {"mine", "none"} <= set(space.keys("favourite colour"))
    assert space.keys("favourite colour", user_id="u1") == ["mine"]
    assert "mine" not in space.keys("favourite colour", user_id="-", top_k=20)
    assert space.keys("favourite colour", session_ids=["s1", "s2"]) == ["mine"]


def test_an_expired_row_is_never_served(space: Space) -> None:
    space.set("soon", "The parking permit ends today", ttl_seconds=1)
    assert space.search("parking permit").results[0].memory_key == "soon"
    time.sleep(1.1)
    assert "soon" not in space.keys("parking permit", top_k=20)


def test_a_zero_weight_leg_does_not_run(space: Space) -> None:
    answer = space.search("storage team", search_mode="bm25_hybrid", leg_weights={"fact": 0}, explain=True)
    assert all("fact" not in (hit.legs or {}) for hit in answer.results)
    assert answer.retrieval_work.statements <= 3


def test_a_request_over_the_ceiling_is_refused_by_name(space: Space) -> None:
    with pytest.raises(InvalidInput, match="top_k"):
        space.search("anything", top_k=999)


def test_the_namespaces_preference_stands_between_request_and_setting(space: Space) -> None:
    space.prefer(retrieval_defaults={"search_mode": "hybrid", "top_k": 2})
    answer = space.search("storage team")
    assert (answer.search_mode, len(answer.results)) == ("hybrid", 2)
    assert space.search("storage team", search_mode="rrf", top_k=3).search_mode == "rrf"
