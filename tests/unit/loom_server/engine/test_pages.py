"""Pages go on with one ranking: each row once and none left out, or an abstain that says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from loom_client import wire
from loom_server.engine.pages import displaces, turn, written_by
from loom_server.model.candidate import LegResult
from loom_server.model.clock import RowIds, last_id_by
from loom_server.model.plan import LegPlan
from loom_server.model.window import Window
from loom_server.service.open import assemble
from loom_server.service.services import Services
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from spaces import Space
from stages import a_plan, a_row, a_window
from writing import SetClock

FOUR = a_window(a_row(7), a_row(3), beyond=(a_row(9), a_row(5)), ranked=4)
QUERY = "which fruit is in the basket"
FRUIT = ("apple", "pear", "plum", "cherry", "quince", "fig", "lemon", "grape")


@pytest.fixture
def clock() -> SetClock:
    return SetClock(datetime(2027, 3, 1, tzinfo=UTC))


@pytest.fixture
def space(store: EmbeddedStore, services: Services, org: str, clock: SetClock) -> Iterator[Space]:
    """Eight rows of a service whose clock the test moves."""
    moved = assemble(store, services.searcher.embedder, Settings(), clock)
    filled = Space(moved, org)
    filled.fill({name: f"The basket holds the fruit {name}, number {n}." for n, name in enumerate(FRUIT)})
    clock.move(1)
    yield filled
    moved.writer.close()
    moved.searcher.executor.shutdown()


def walk(space: Space, **fields: object) -> Iterator[wire.MemorySearchResponse]:
    """The pages of a search, one after the other."""
    answer = space.search(QUERY, **fields)
    yield answer
    while answer.next_page is not None:
        answer = space.search(QUERY, page=answer.next_page, **fields)
        yield answer


def test_the_first_page_names_what_it_served_and_where_it_ends() -> None:
    turned = turn(FOUR, None, newest=8, refilled=True)
    assert turned.window is FOUR
    assert turned.following is not None
    assert (turned.following.offset, turned.following.newest, turned.following.refilled) == (2, 9, True)


def later(before: tuple[int, ...], rows: tuple[int, ...], beyond: tuple[int, ...] = ()) -> Window:
    """The window of a later page by its row ids."""
    parts = [tuple(map(a_row, part)) for part in (before, rows, beyond)]
    return a_window(*parts[1], before=parts[0], beyond=parts[2], without_body=frozenset(rows[:1]))


@pytest.mark.parametrize("before", [(7, 3), (3, 7)])
@pytest.mark.parametrize("rows", [(9, 5), (5, 9), (9,), (), (5, 9, 1)])
def test_a_page_goes_on_where_the_same_rows_stand_before_it(before: tuple[int, ...], rows: tuple[int, ...]) -> None:
    first = turn(FOUR, None, 9, False).following
    window = later(before, rows)
    turned = turn(window, first, newest=0, refilled=True)
    assert (turned.window, turned.following, turned.expired) == (window, None, False)


def test_a_page_between_two_names_the_rows_of_both() -> None:
    first = turn(FOUR, None, 9, False).following
    assert first is not None
    second = turn(later((7, 3), (9,), (5,)), first, 0, True).following
    assert second == replace(first, offset=3, served=second.served if second else "")
    assert not turn(later((9, 3, 7), (5,)), second, 0, True).expired
    assert turn(later((9, 3, 5), (7,)), second, 0, True).expired


@pytest.mark.parametrize("before", [(), (7,), (7, 9), (7, 3, 9), (7, 4)])
def test_other_rows_before_it_end_the_pages(before: tuple[int, ...]) -> None:
    first = turn(FOUR, None, 9, False).following
    turned = turn(later(before, (11, 12), (13,)), first, 0, False)
    assert (turned.expired, turned.following, turned.window.rows) == (True, None, ())
    assert [row.memory.id for row in turned.window.beyond] == [*before, 11, 12, 13]
    assert turned.window.without_body == frozenset()
    assert len(turned.window.drops) == len(before) + 3


def test_a_page_on_which_another_leg_failed_has_expired() -> None:
    for before, now, ends in (((), ("bm25: x",), True), (("bm25: x",), (), True), (("bm25: x",), ("bm25: x",), False)):
        first = turn(FOUR, None, 9, False, before).following
        assert turn(later((7, 3), (9, 5)), first, 0, False, now).expired is ends


def test_what_fits_one_page_has_no_other() -> None:
    assert turn(a_window(a_row(1)), None, 9, False).following is None
    assert turn(a_window(), None, 9, False).following is None


def test_rows_written_later_are_taken_out_of_the_legs() -> None:
    result = LegResult("fact", "ok", (4, 9, 2), (0.9, 0.8, 0.7), (1, 2, 3))
    (kept,) = written_by((result,), 8)
    assert (kept.ids, kept.scores, kept.matched) == ((4, 2), (0.9, 0.7), (1, 3))
    assert written_by((result,), 9) == (result,)


@pytest.mark.parametrize(("quota", "newest", "lost"), [(3, 8, True), (4, 8, False), (3, 9, False)])
def test_a_later_row_displaces_another_where_its_leg_is_full(quota: int, newest: int, lost: bool) -> None:
    results = (LegResult("fact", "ok", (4, 9, 2), (0.9, 0.8, 0.7), (0, 0, 0)),)
    plan = a_plan(legs=(LegPlan("fact", quota),))
    assert displaces(results, written_by(results, newest), plan) is lost


def test_a_moment_bounds_the_ids_of_its_rows(clock: SetClock) -> None:
    ids = RowIds(clock)
    before = [ids.next() for _ in range(3)]
    assert max(before) <= last_id_by(clock.now())
    clock.move(0.000002)
    assert RowIds(clock).next() > last_id_by(clock.now().replace(microsecond=0))


def test_pages_hold_every_row_once(space: Space) -> None:
    pages = list(walk(space, top_k=3))
    keys = [hit.memory_key for page in pages for hit in page.results]
    assert keys == space.keys(QUERY, top_k=100)
    assert sorted(keys) == sorted(FRUIT)
    assert [(page.page_offset, len(page.results)) for page in pages] == [(0, 3), (3, 3), (6, 2)]
    assert {(page.abstain, page.abstain_reason, page.retrieval_confidence) for page in pages} == {
        (False, "", pages[0].retrieval_confidence)
    }


def test_a_page_may_be_of_another_size_and_explained(space: Space) -> None:
    first = space.search(QUERY, top_k=2)
    rest = space.search(QUERY, top_k=50, explain=True, include_tags=True, timeout_ms=9_000, page=first.next_page)
    assert [hit.memory_key for hit in (*first.results, *rest.results)] == space.keys(QUERY)
    assert rest.next_page is None
    assert rest.results[0].legs


def test_a_row_written_since_takes_no_part(space: Space, clock: SetClock) -> None:
    first, before = space.search(QUERY, top_k=3), space.keys(QUERY)
    clock.move(1)
    space.set("medlar", "The basket holds the fruit medlar, number nine.")
    space.set("soup", "The canteen serves soup.")
    assert "medlar" in space.keys(QUERY)
    second = space.search(QUERY, top_k=50, page=first.next_page)
    assert sorted(hit.memory_key for hit in (*first.results, *second.results)) == sorted(before)


def test_a_row_written_since_ends_the_pages_where_it_took_anothers_place(space: Space, clock: SetClock) -> None:
    asked = {"search_mode": "lexical", "legs": ["lexical"], "candidates": {"lexical": 8}, "top_k": 3}
    first = space.search(QUERY, **asked)
    clock.move(1)
    space.set("basket", "Which fruit is in the basket?")
    answer = space.search(QUERY, page=first.next_page, **asked)
    assert (answer.abstain_code, answer.results) == ("page_expired", ())


def test_a_row_that_was_to_come_may_go(space: Space, clock: SetClock) -> None:
    asked = {"search_mode": "lexical"}
    first, before = space.search(QUERY, top_k=3, **asked), space.keys(QUERY, **asked)
    clock.move(1)
    space.delete(before[-1])
    second = space.search(QUERY, top_k=50, page=first.next_page, **asked)
    assert [hit.memory_key for hit in (*first.results, *second.results)] == before[:-1]


def test_a_row_that_was_deleted_since_ends_the_pages(space: Space, clock: SetClock) -> None:
    first = space.search(QUERY, top_k=3)
    clock.move(1)
    space.delete(first.results[1].memory_key)
    answer = space.search(QUERY, top_k=3, page=first.next_page)
    assert (answer.abstain, answer.abstain_code, answer.results) == (True, "page_expired", ())
    assert (answer.next_page, answer.page_offset, answer.retrieval_risk) == (None, 3, "abstain")
    assert answer.retrieval_confidence == 0.0
    assert answer.abstain_reason.endswith("the ranking that this page goes on with has changed.")
    assert answer.next == "Search again without page."


def test_a_served_row_whose_time_is_over_ends_the_pages(space: Space, clock: SetClock) -> None:
    space.set("date", "Which fruit is in the basket? The date.", ttl_seconds=60)
    first = space.search(QUERY, top_k=3)
    assert "date" in [hit.memory_key for hit in first.results]
    clock.move(59)
    assert space.search(QUERY, top_k=3, page=first.next_page).abstain_code is None
    clock.move(1)
    assert space.search(QUERY, top_k=3, page=first.next_page).abstain_code == "page_expired"


def test_a_new_value_of_a_served_row_ends_the_pages(space: Space, clock: SetClock) -> None:
    first = space.search(QUERY, top_k=3)
    clock.move(1)
    space.set(first.results[0].memory_key, "The basket holds the fruit no more.")
    assert space.search(QUERY, top_k=3, page=first.next_page).abstain_code == "page_expired"


def test_pages_go_on_where_excluded_rows_had_crowded_others_out(space: Space) -> None:
    best = space.keys(QUERY, legs=["fact"])
    asked = {"legs": ["fact"], "candidates": {"fact": 4}, "exclude_keys": best[:2], "top_k": 3}
    pages = list(walk(space, **asked))
    assert [[hit.memory_key for hit in page.results] for page in pages] == [best[2:5], best[5:6]]


def test_pages_of_a_first_page_that_was_full_end_with_its_own_ranking(space: Space) -> None:
    best = space.keys(QUERY, legs=["fact"])
    asked = {"legs": ["fact"], "candidates": {"fact": 5}, "exclude_keys": best[:1], "top_k": 2}
    pages = list(walk(space, **asked))
    assert [[hit.memory_key for hit in page.results] for page in pages] == [best[1:3], best[3:5]]


def test_what_only_serves_a_later_page_is_judged_as_the_whole(space: Space) -> None:
    question = "how do volcanoes form beneath the ocean"
    first = space.search(question, top_k=2)
    second = space.search(question, top_k=2, page=first.next_page)
    assert (first.abstain, first.abstain_code) == (True, "below_threshold")
    verdicts = [(one.abstain_code, one.abstain_reason, one.retrieval_confidence) for one in (first, second)]
    assert verdicts[0] == verdicts[1]
    assert second.results


def test_a_page_costs_what_the_search_costs(space: Space) -> None:
    first = space.search(QUERY, top_k=3)
    again = space.search(QUERY, top_k=3)
    second = space.search(QUERY, top_k=3, page=first.next_page)
    assert second.retrieval_work.statements == again.retrieval_work.statements == 2
