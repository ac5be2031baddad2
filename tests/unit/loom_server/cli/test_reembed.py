"""The line at the end of a run, and who may cancel it."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from loom_client import wire
from loom_server.cli.door import Door, LocalServices
from loom_server.cli.reembed import run, told
from loom_server.cli.screen import Screen
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from moving import NEW, OLD, Watched, ask, ended, served_by
from spaces import Space

BLANK = wire.OpsReembedResponse(
    state="done",
    model="m",
    org=None,
    orgs=2,
    orgs_done=2,
    rows_total=1_200,
    rows_done=1_200,
    rows_left=0,
    characters=31_000,
    started_at=None,
    ended_at=None,
    error_code=None,
    error=None,
)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "1,200 rows embedded with m, 2 orgs finished."),
        ({"orgs": 0}, "Nothing to do: every row has a vector of m."),
        ({"state": "planned"}, "1,200 rows of 2 orgs, 31,000 characters, would be embedded with m."),
        (
            {"state": "failed", "rows_done": 1, "rows_left": 1_199, "orgs_done": 0},
            "1 row embedded with m, 1,199 left; 0 of 2 orgs finished.",
        ),
    ],
)
def test_the_last_line(changes: dict[str, object], line: str) -> None:
    assert told(BLANK.model_copy(update=changes)) == line


@pytest.mark.parametrize(("own", "state"), [(True, "cancelled"), (False, "done")])
def test_an_interrupt_cancels_only_what_the_command_has_started(
    store: EmbeddedStore, org: str, monkeypatch: pytest.MonkeyPatch, own: bool, state: str
) -> None:
    at_work, go = threading.Event(), threading.Event()

    def before(number: int, texts: Sequence[str]) -> None:
        at_work.set()
        assert go.wait(60)

    def interrupted(seconds: float) -> None:
        assert at_work.wait(60)
        raise KeyboardInterrupt

    with served_by(store, OLD) as services:
        Space(services, org).set("a", "a red fox")
    with served_by(store, Watched(before)) as services:
        if not own:
            ask(services, "start", org)
        monkeypatch.setattr("loom_server.cli.reembed.sleep", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(Door(LocalServices(services, Settings())), org, Screen.open())
        go.set()
        assert ended(services).state == state
        assert NEW.identity.name == ask(services).model
