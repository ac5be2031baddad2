"""`ops.reembed` counts without changing anything; health tells what is stale until it is done."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from loom_client import wire
from loom_server.model.deadline import Deadline
from loom_server.service.services import Services
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.passing import PassingStore
from moving import NEW, OLD, Watched, ask, ended, models_of, move, served_by
from spaces import Space


def stale(services: Services) -> int:
    """Counted anew."""
    services.stale.forget()
    found = services.health(wire.OpsHealthRequest(), Deadline(30)).stale_rows
    assert found is not None
    return found


def test_a_plan_counts_rows_and_characters_and_changes_nothing(store: EmbeddedStore, org: str) -> None:
    with served_by(store, OLD) as services:
        Space(services, org).fill({"a": "a red fox", "b": "a hen"})
    with served_by(store, NEW) as services:
        for _ in range(2):
            planned = ask(services, "plan", org)
            assert (planned.state, planned.orgs, planned.rows_left, planned.characters) == ("planned", 1, 2, 14)
        assert (planned.model, planned.org) == (NEW.identity.name, org)
        assert ask(services).state == "idle"
        assert models_of(store, org) == {OLD.identity.name: 2}


def test_health_tells_how_many_rows_are_stale_until_they_are_done(store: EmbeddedStore, org: str) -> None:
    with served_by(store, OLD) as services:
        Space(services, org).fill({"a": "a red fox", "b": "a hen"})
    with served_by(store, NEW) as services:
        before = stale(services)
        assert before >= 2
        assert services.health(wire.OpsHealthRequest(), Deadline(30)).status == "ok"
        Space(services, org).set("c", "written meanwhile")
        assert services.health(wire.OpsHealthRequest(), Deadline(30)).stale_rows == before
        assert stale(services) == before + 1
        move(services, org)
        assert services.health(wire.OpsHealthRequest(), Deadline(30)).stale_rows == before - 2
        assert services.health(wire.OpsHealthRequest(), Deadline(30)).reembedding == "done"


class Shared(PassingStore):
    """A store that says that others write to it."""

    @property
    def shared(self) -> bool:
        return True


def test_of_several_processes_on_a_store_one_moves_vectors_at_a_time(store: EmbeddedStore, org: str) -> None:
    at_work, go = threading.Event(), threading.Event()

    def before(number: int, texts: Sequence[str]) -> None:
        at_work.set()
        assert go.wait(60)

    with served_by(store, OLD) as services:
        Space(services, org).fill({"a": "a red fox", "b": "a hen"})
    with served_by(Shared(store), Watched(before)) as one, served_by(Shared(store), NEW) as two:
        ask(one, "start", org)
        assert at_work.wait(60)
        ask(two, "start", org)
        refused = ended(two)
        assert (refused.state, refused.error_code, refused.rows_done) == ("failed", "conflict", 0)
        assert "Another process moves vectors" in str(refused.error)
        go.set()
        assert ended(one).state == "done"
        assert move(two, org).orgs == 0
        assert models_of(store, org) == {NEW.identity.name: 2}


def test_a_number_that_cannot_be_counted_in_time_is_left_out(store: EmbeddedStore) -> None:
    with served_by(store, NEW) as services:
        assert services.stale.count(store, NEW.identity.name, Deadline(0.0)) is None
