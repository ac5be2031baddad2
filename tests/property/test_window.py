"""For any ranking, the window serves or accounts for every row, within its rules."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from loom_server.model.candidate import Ranked
from loom_server.model.page import Page
from loom_server.model.window import Lines
from loom_server.rank.window import shape_window
from stages import NOW, a_memory, a_plan, a_request, a_row

KEYS = st.sampled_from(["car", "house", "boat", "cat"])
STATUSES = st.sampled_from(["live", "live", "live", "superseded", "tombstoned"])
TIMES = st.sampled_from([None, NOW - timedelta(days=1), NOW + timedelta(days=1)])
COSINES = st.floats(-1.0, 1.0)
MEMORIES = st.lists(st.tuples(KEYS, STATUSES, TIMES, COSINES), max_size=30)
REQUESTS = st.builds(
    a_request,
    include_superseded=st.booleans(),
    exclude_keys=st.lists(KEYS, max_size=2).map(tuple),
)
PLANS = st.builds(
    a_plan,
    top_k=st.integers(1, 12),
    per_key_cap=st.integers(1, 3),
    floor_mode=st.sampled_from(["readmit", "ids_only", "drop"]),
)


def ranking(drawn: list[tuple[str, str, object, float]]) -> tuple[list[Ranked], list[Lines]]:
    rows: list[Ranked] = []
    for row_id, (key, status, expires_at, cosine) in enumerate(drawn):
        memory = a_memory(row_id, key, status=status, expires_at=expires_at)  # type: ignore[arg-type]
        rows.append(a_row(row_id, cosine, memory=memory))
    rows.sort(key=lambda row: row.order_key)
    return rows, [Lines(row.similarity < 0.22, row.similarity < 0.3) for row in rows]


@given(MEMORIES, PLANS, REQUESTS)
def test_served_and_dropped_rows_add_up_to_all(drawn, plan, request) -> None:
    rows, lines = ranking(drawn)
    window = shape_window(rows, lines, plan, request, NOW)
    served = [row.memory.id for row in window.rows]
    dropped = [drop.row_id for drop in window.drops]
    assert sorted(served + dropped) == sorted(row.memory.id for row in rows)
    assert len(window.rows) + sum(window.counts.values()) == window.ranked == len(rows)
    assert Counter(drop.stage for drop in window.drops) == window.counts


@given(MEMORIES, PLANS, REQUESTS)
def test_pages_are_the_window_cut_into_parts(drawn, plan, request) -> None:
    rows, lines = ranking(drawn)
    whole = shape_window(rows, lines, replace(plan, top_k=len(rows) + 1), request, NOW)
    for offset in range(0, len(whole.rows), plan.top_k):
        page = shape_window(rows, lines, plan, replace(request, page=Page(offset, "", 0)), NOW)
        assert page.rows == whole.rows[offset : offset + plan.top_k]
        assert page.first is not None
        assert (page.best_similarity, page.first.memory) == (whole.best_similarity, whole.rows[0].memory)
        assert page.ranked == len(page.rows) + len(page.drops)


@given(MEMORIES, PLANS, REQUESTS)
def test_no_rule_is_broken(drawn, plan, request) -> None:
    window = shape_window(*ranking(drawn), plan, request, NOW)
    assert len(window.rows) <= plan.top_k
    for row in window.rows:
        memory = row.memory
        assert memory.status != "tombstoned"
        assert memory.expires_at is None or memory.expires_at > NOW
        assert memory.status == "live" or request.include_superseded
        assert memory.memory_key not in request.exclude_keys
    live = Counter(row.memory.memory_key for row in window.rows if row.memory.status == "live")
    assert max(live.values(), default=0) <= plan.per_key_cap


@given(MEMORIES, PLANS, REQUESTS)
def test_confident_rows_stand_first_and_both_groups_keep_their_order(drawn, plan, request) -> None:
    window = shape_window(*ranking(drawn), plan, request, NOW)
    keys = [(row.below_floor, row.order_key) for row in window.rows]
    assert keys == sorted(keys)
    assert plan.floor_mode != "drop" or not any(row.below_floor for row in window.rows)
    weak = {row.memory.id for row in window.rows if row.below_floor}
    assert window.without_body == (weak if plan.floor_mode == "ids_only" else set())


@given(MEMORIES, PLANS, REQUESTS, st.integers(1, 12))
def test_a_shorter_page_is_the_beginning_of_a_longer_one(drawn, plan, request, top_k) -> None:
    rows, lines = ranking(drawn)
    one = shape_window(rows, lines, plan, request, NOW)
    other = shape_window(rows, lines, replace(plan, top_k=top_k), request, NOW)
    shared = min(plan.top_k, top_k)
    assert one.rows[:shared] == other.rows[:shared]
    assert one.best_similarity == other.best_similarity


@given(MEMORIES, PLANS, REQUESTS)
def test_readmitting_serves_what_dropping_serves_and_more(drawn, plan, request) -> None:
    rows, lines = ranking(drawn)
    dropped = shape_window(rows, lines, replace(plan, floor_mode="drop"), request, NOW)
    readmitted = shape_window(rows, lines, replace(plan, floor_mode="readmit"), request, NOW)
    assert readmitted.rows[: len(dropped.rows)] == dropped.rows
    assert readmitted.below_floor == dropped.below_floor == dropped.counts.get("floor", 0)
