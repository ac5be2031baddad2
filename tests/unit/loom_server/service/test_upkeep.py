"""`ops.reembed` counts without changing anything; health tells what is stale until it is done."""

from __future__ import annotations

from loom_client import wire
from loom_server.model.deadline import Deadline
from loom_server.service.services import Services
from loom_server.store.embedded import EmbeddedStore
from moving import NEW, OLD, ask, models_of, move, served_by
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


def test_a_number_that_cannot_be_counted_in_time_is_left_out(store: EmbeddedStore) -> None:
    with served_by(store, NEW) as services:
        assert services.stale.count(store, NEW.identity.name, Deadline(0.0)) is None
