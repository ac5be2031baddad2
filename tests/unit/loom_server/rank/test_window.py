"""What is served, what is not, and at which stage it fell."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from loom_server.model.candidate import Ranked
from loom_server.model.memory import Memory
from loom_server.model.page import Page
from loom_server.model.query import FloorMode
from loom_server.model.window import Lines, Window
from loom_server.rank.window import shape_window
from stages import NOW, a_memory, a_plan, a_request, a_row

CONFIDENT = Lines(below_floor=False, below_threshold=False)
UNSURE = Lines(below_floor=False, below_threshold=True)
WEAK = Lines(below_floor=True, below_threshold=True)


def shape(*rows: Ranked, lines: list[Lines] | None = None, **fields: Any) -> Window:
    asked = {name: fields.pop(name) for name in ("exclude_keys", "include_superseded", "page") if name in fields}
    return shape_window(rows, lines or [CONFIDENT] * len(rows), a_plan(**fields), a_request(**asked), NOW)


def ids(window: Window) -> list[int]:
    return [row.memory.id for row in window.rows]


def fell(window: Window) -> dict[int, str]:
    return {drop.row_id: drop.stage for drop in window.drops}


def stored(row_id: int, key: str | None = None, **fields: Any) -> Ranked:
    memory: Memory = a_memory(row_id, key, **fields)
    return a_row(row_id, memory=memory)


def test_top_k_cuts_and_says_where() -> None:
    window = shape(a_row(1), a_row(2), a_row(3), top_k=2)
    assert ids(window) == [1, 2]
    assert [(drop.stage, drop.detail) for drop in window.drops] == [("window", "place 3 is beyond top_k 2")]
    assert window.counts == {"window": 1}


def test_a_later_page_serves_what_follows_and_knows_what_stood_before() -> None:
    rows = [a_row(row_id) for row_id in (1, 2, 3, 4, 5)]
    window = shape(*rows, top_k=2, page=Page(2, "", 9))
    assert (ids(window), window.ordered, window.first) == ([3, 4], tuple(rows), rows[0])
    assert [(drop.row_id, drop.detail) for drop in window.drops] == [
        (1, "place 1 is on an earlier page"),
        (2, "place 2 is on an earlier page"),
        (5, "place 5 is beyond top_k 4"),
    ]
    assert window.counts == {"window": 3}
    assert window.best_similarity == shape(*rows, top_k=2).best_similarity


def test_only_rows_of_the_page_lose_their_body() -> None:
    rows = [a_row(row_id) for row_id in (1, 2, 3)]
    window = shape(*rows, lines=[WEAK] * 3, top_k=1, floor_mode="ids_only", page=Page(1, "", 9))
    assert (ids(window), window.without_body) == ([2], {2})


def test_superseded_rows_are_hidden_unless_asked_for() -> None:
    rows = (stored(1, status="superseded"), stored(2))
    assert (ids(shape(*rows)), fell(shape(*rows))) == ([2], {1: "superseded"})
    assert ids(shape(*rows, include_superseded=True)) == [1, 2]


def test_deleted_rows_are_never_served() -> None:
    assert fell(shape(stored(1, status="tombstoned"), include_superseded=True)) == {1: "tombstoned"}


@pytest.mark.parametrize(
    ("left", "served"), [(timedelta(seconds=1), [1]), (timedelta(0), []), (timedelta(seconds=-1), [])]
)
def test_expired_rows_are_never_served(left: timedelta, served: list[int]) -> None:
    window = shape(stored(1, expires_at=NOW + left), include_superseded=True)
    assert ids(window) == served
    assert window.counts == ({} if served else {"expired": 1})


def test_one_key_has_at_most_its_cap_of_live_rows() -> None:
    rows = (stored(1, "car"), stored(2, "car"), stored(3, "house"), stored(4, "car"))
    assert (ids(shape(*rows)), fell(shape(*rows))) == ([1, 3], {2: "per_key_cap", 4: "per_key_cap"})
    assert ids(shape(*rows, per_key_cap=2)) == [1, 2, 3]


def test_the_same_key_of_another_writer_is_another_key() -> None:
    mine, other = a_memory(1, "car"), a_memory(2, "car")
    identity = type(other.identity)("acme", "team", "other agent", "anna", "s1")
    moved = Memory(2, identity, "car", 1, "live", other.value, other.content, other.content_sha256)
    assert ids(shape(a_row(1, memory=mine), a_row(2, memory=moved))) == [1, 2]


def test_the_cap_does_not_hide_the_history_that_was_asked_for() -> None:
    rows = (
        stored(1, "car", status="superseded"),
        stored(2, "car"),
        stored(3, "car", status="superseded"),
        stored(4, "car"),
    )
    window = shape(*rows, include_superseded=True)
    assert (ids(window), fell(window)) == ([1, 2, 3], {4: "per_key_cap"})


def test_keys_that_the_caller_holds_are_left_out() -> None:
    window = shape(stored(1, "car"), stored(2, "house"), exclude_keys=("car", "boat"))
    assert (ids(window), fell(window)) == ([2], {1: "excluded"})


@pytest.mark.parametrize(
    ("mode", "served", "bodiless"),
    [("readmit", [2, 4, 1, 3], []), ("ids_only", [2, 4, 1, 3], [1, 3]), ("drop", [2, 4], [])],
)
def test_what_each_floor_mode_does(mode: FloorMode, served: list[int], bodiless: list[int]) -> None:
    lines = [WEAK, CONFIDENT, WEAK, UNSURE]
    window = shape(a_row(1, 0.1), a_row(2), a_row(3, 0.05), a_row(4), lines=lines, floor_mode=mode)
    assert ids(window) == served
    assert sorted(window.without_body) == bodiless
    assert window.below_floor == 2
    assert window.counts == ({"floor": 2} if mode == "drop" else {})


def test_a_row_dropped_by_the_floor_says_what_would_have_kept_it() -> None:
    (drop,) = shape(a_row(1, 0.1), lines=[WEAK], floor_mode="drop").drops
    assert drop.detail == "similarity 0.100 is under the floor 0.220; floor_mode readmit keeps it"


def test_rows_readmitted_beyond_the_page_have_no_place_among_the_bodiless() -> None:
    window = shape(a_row(1, 0.1), a_row(2), lines=[WEAK, CONFIDENT], floor_mode="ids_only", top_k=1)
    assert (ids(window), window.without_body, fell(window)) == ([2], frozenset(), {1: "window"})


def test_served_rows_carry_their_lines() -> None:
    lines = [Lines(below_floor=False, below_threshold=False, evidence=("identifier",)), WEAK]
    first, second = shape(a_row(1, 0.1), a_row(2, 0.2), lines=lines).rows
    assert (first.below_floor, first.below_threshold, first.evidence) == (False, False, ("identifier",))
    assert (second.below_floor, second.below_threshold, second.evidence) == (True, True, ())


def test_the_best_similarity_does_not_depend_on_the_page() -> None:
    rows = (a_row(1, 0.3), a_row(2, 0.7), a_row(3, 0.5))
    assert {shape(*rows, top_k=top_k).best_similarity for top_k in (1, 2, 3)} == {0.7}


def test_the_best_similarity_is_of_rows_that_may_be_served() -> None:
    rows = (stored(1, status="superseded"), a_row(2, 0.1))
    assert shape(*rows).best_similarity == 0.1
    assert shape(a_row(2, 0.1), lines=[WEAK], floor_mode="drop").best_similarity == 0.0


def test_an_empty_ranking_is_an_empty_window() -> None:
    window = shape()
    assert (window.rows, window.drops, window.ranked, window.counts) == ((), (), 0, {})
