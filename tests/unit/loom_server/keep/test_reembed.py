"""A move of an org's vectors: what there is at its end, whatever writers, failures and stops do on the way."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from gated import GatedStore
from loom_server.embed.static import StaticEmbedder
from loom_server.keep import reembed as module
from loom_server.keep.lacking import Lacking, lacking
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.namespaces import Namespaces
from loom_server.store.store import Store
from moving import NEW, OLD, Watched, ask, ended, failing_from, models_of, move, served_by, twice, wrong_flags
from spaces import Space
from writing import settle, sound

MODEL, FORMER = NEW.identity.name, OLD.identity.name
STATIC = StaticEmbedder(256)
ROWS = {"a": "a red fox", "b": "a hen on Mondays", "c": "the cow"}


@pytest.fixture
def old(store: EmbeddedStore, org: str) -> Space:
    """Three keys in one namespace and one in another, under the old model; one of them is in its second version."""
    with served_by(store, OLD) as services:
        space = Space(services, org)
        space.fill(ROWS)
        space.set("a", "a blue fox")
        space.other(namespace="other").set("d", "a mule")
    return space


def assert_moved(store: Store, org: str, rows: int) -> None:
    """Every version has one vector, of the new model alone, with its own flag, and nothing is left to do."""
    assert models_of(store, org) == {MODEL: rows}
    assert twice(store, org) == []
    assert wrong_flags(store, org) == []
    assert lacking(store, MODEL, org) == Lacking()
    assert Namespaces(store).model_of(org) == MODEL
    assert sound(store, org, NEW)


def test_every_version_of_every_namespace_gets_its_vector(store: EmbeddedStore, org: str, old: Space) -> None:
    with served_by(store, NEW) as services:
        space = Space(services, org)
        assert space.search("hen on Mondays").degraded == ("fact: model_mismatch",)
        answer = move(services, org)
        assert (answer.orgs, answer.orgs_done, answer.rows_total, answer.rows_done, answer.rows_left) == (1, 1, 5, 5, 0)
        assert answer.characters == 9 + 16 + 7 + 10 + 6
        assert_moved(store, org, 5)
        found = space.search("hen on Mondays")
        assert (found.degraded, found.results[0].memory_key, found.results[0].similarity) == (
            (),
            "b",
            pytest.approx(0.9, abs=0.11),
        )
        assert "red" in str(space.search("red fox", include_superseded=True).results[0].content_excerpt)
        assert space.set("e", "an owl").degraded == ()
        settle(services.writer)
        assert_moved(store, org, 6)


def test_a_move_that_is_over_is_not_made_again(store: EmbeddedStore, org: str, old: Space) -> None:
    with served_by(store, NEW) as services:
        move(services, org)
        before = models_of(store, org)
        again = move(services, org)
        assert (again.orgs, again.rows_total, again.rows_done) == (0, 0, 0)
        assert models_of(store, org) == before


def test_other_orgs_stay_as_they_are(store: EmbeddedStore, org: str, old: Space) -> None:
    other = f"{org}-other"
    with served_by(store, OLD) as services:
        Space(services, other).fill(ROWS)
    with served_by(store, NEW) as services:
        move(services, org)
        assert models_of(store, other) == {FORMER: 3}
        assert Namespaces(store).model_of(other) == FORMER
        assert Space(services, other).search("hen").degraded == ("fact: model_mismatch",)
        move(services, other)
    assert_moved(store, other, 3)


def test_rows_that_were_stored_without_a_vector_get_one(store: EmbeddedStore, org: str) -> None:
    with served_by(store, failing_from(2)) as services:
        space = Space(services, org)
        assert space.set("a", "a red fox").degraded == ()
        assert space.set("b", "a hen").degraded == ("embed: embed_error",)
        assert models_of(store, org) == {MODEL: 1}
    with served_by(store, NEW) as services:
        assert move(services, org).rows_done == 1
    assert_moved(store, org, 2)


def test_the_tokens_of_a_weighting_embedder_are_counted_for_the_new_vectors(
    store: EmbeddedStore, org: str, old: Space
) -> None:
    with served_by(store, STATIC) as services:
        space = Space(services, org)
        total = services.searcher.statistics.namespace(org, "local").total_tokens
        assert total == 0
        move(services, org)
        live = ("a blue fox", "a hen on Mondays", "the cow")
        counted = services.searcher.statistics.namespace(org, "local")
        assert counted.total_tokens == sum(len(STATIC.tokens(text)) for text in live)
        assert space.keys("the first day of a week")[0] == "b"
        assert sound(store, org, STATIC)


def test_an_embedder_that_fails_ends_the_run_and_what_is_done_stays(
    store: EmbeddedStore, org: str, old: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_ROWS", 2)
    with served_by(store, failing_from(2)) as services:
        ask(services, "start", org)
        answer = ended(services)
        assert (answer.state, answer.error_code, answer.error) == (
            "failed",
            "embed_error",
            "The embedder is away; try again later.",
        )
        assert (answer.rows_done, answer.rows_left, answer.orgs_done) == (2, 3, 0)
        assert models_of(store, org) == {FORMER: 5, MODEL: 2}
        assert Space(services, org).search("hen").degraded == ("fact: model_mismatch",)
    with served_by(store, NEW) as services:
        assert move(services, org).rows_total == 3
    assert_moved(store, org, 5)


def test_the_old_embedder_takes_an_unfinished_move_back(
    store: EmbeddedStore, org: str, old: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_ROWS", 2)
    with served_by(store, failing_from(2)) as services:
        ask(services, "start", org)
        assert ended(services).state == "failed"
    with served_by(store, OLD) as services:
        space = Space(services, org)
        assert space.search("hen on Mondays").degraded == ()
        space.set("b", "a goose")
        assert move(services, org).rows_total == 0
        assert models_of(store, org) == {FORMER: 6}
        assert wrong_flags(store, org) == []
    assert sound(store, org, OLD)


def test_versions_that_end_and_rows_that_come_while_a_batch_is_embedded(
    store: EmbeddedStore, org: str, old: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_ROWS", 2)
    monkeypatch.setattr(module, "LAST_ROWS", 0)
    spaces: list[Space] = []

    def before(number: int, texts: Sequence[str]) -> None:
        if number == 1:
            spaces[0].set("b", "another hen")
            spaces[0].delete("c")
            spaces[0].set("new", "a new mouse")
        if number == 4:
            spaces[0].set("later", "a later mouse")

    with served_by(store, Watched(before)) as services:
        spaces.append(Space(services, org))
        answer = move(services, org)
        assert answer.rows_done == answer.rows_total == 8
        assert spaces[0].search("later mouse").degraded == ()
    assert_moved(store, org, 8)


def test_a_write_that_has_read_the_old_model_is_in_before_the_flip(store: EmbeddedStore, org: str, old: Space) -> None:
    gated = GatedStore(store, held=("insert.memory",))
    gated.gate.set()
    with served_by(gated, NEW) as services:
        space = Space(services, org)
        move_begun = threading.Event()
        gated.gate.clear()
        gated.held = ("insert.postings",)
        writer = threading.Thread(target=lambda: (move_begun.set(), space.set("slow", "a slow snail")))
        writer.start()
        assert move_begun.wait(30)
        assert gated.waiting.acquire(timeout=30)
        gated.held = ()
        ask(services, "start", org)
        blocked = threading.Event()

        def flipped() -> None:
            while Namespaces(store).model_of(org) != MODEL and not blocked.wait(0.05):
                pass

        watcher = threading.Thread(target=flipped)
        watcher.start()
        watcher.join(0.5)
        assert Namespaces(store).model_of(org) == FORMER
        gated.gate.set()
        blocked.set()
        writer.join(30)
        watcher.join(30)
        assert ended(services).state == "done"
    assert_moved(store, org, 6)


def test_a_run_that_is_cancelled_stops_and_goes_on_when_it_is_started_again(
    store: EmbeddedStore, org: str, old: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_ROWS", 2)
    at_work, go = threading.Event(), threading.Event()

    def before(number: int, texts: Sequence[str]) -> None:
        at_work.set()
        assert go.wait(30)

    with served_by(store, Watched(before)) as services:
        ask(services, "start", org)
        assert at_work.wait(30)
        assert ask(services, "start", org).state == "running"
        assert ask(services, "cancel").state == "running"
        go.set()
        answer = ended(services)
        assert (answer.state, answer.error_code, answer.rows_done) == ("cancelled", "cancelled", 2)
        assert move(services, org).rows_done == 3
    assert_moved(store, org, 5)


def test_rows_without_a_word_are_tried_and_left(store: EmbeddedStore, org: str) -> None:
    with served_by(store, STATIC) as services:
        Space(services, org).fill({"a": "a fox", "b": "!!!"})
    assert models_of(store, org) == {STATIC.identity.name: 2}
    with served_by(store, NEW) as services:
        assert move(services, org).rows_done == 1
        assert models_of(store, org) == {MODEL: 1}
        assert move(services, org).orgs == 0
    assert sound(store, org, NEW)
