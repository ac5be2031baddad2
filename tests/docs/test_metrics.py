"""The page on metrics names every metric, every label and every event, and none that is not there."""

from __future__ import annotations

import inspect
import re

import pytest

from journal import logging_as
from loom_server.cli import command
from loom_server.observe import logs
from loom_server.observe.labels import OTHER
from loom_server.observe.meters import METERS
from loom_server.observe.metrics import Metrics
from loom_server.observe.seen import SearchSeen, WriteSeen
from pages import blocks, rows, section, text_of

PAGE = text_of("metrics.md")
TOLD = {row[0].strip("`"): row[1:] for row in rows(section(PAGE, "Metrics"))}
EVENTS = {name.strip(" `"): row for row in rows(section(PAGE, "Logs")) for name in row[0].split(",")}


def test_every_metric_that_a_service_has_is_told_and_no_other() -> None:
    families = {family.name: family.type for family in Metrics().registry.collect()}
    told = {name.removesuffix("_total"): kind for name, (kind, *_) in TOLD.items()}
    assert told == families


def test_every_label_is_told_with_its_values() -> None:
    told = [(row[0].strip("`"), re.findall(r"`([^`]+)`", row[1]), row[2]) for row in rows(section(PAGE, "Labels"))]
    of_metric = {(name, label): values for label, names, values in told for name in names}
    assert of_metric == {
        (meter.name, label): ", ".join(f"`{value}`" for value in values)
        for meter in METERS
        for label, values in meter.labels.items()
    }
    assert f"or `{OTHER}`" in section(PAGE, "Labels")


def test_every_metric_named_anywhere_on_the_page_exists() -> None:
    named = set(re.findall(r"\bloom_[a-z_]+\b", PAGE)) - {"loom_server", "loom_client"}
    assert {re.sub(r"_(bucket|count|sum)$", "", name) for name in named} == set(TOLD)


def test_the_alerts_ask_for_values_that_a_label_has() -> None:
    (alerts,) = blocks(PAGE, "yaml")
    assert set(re.search(r'outcome=~"([^"]+)"', alerts)[1].split("|")) <= set(  # type: ignore[index]
        METERS[1].labels["outcome"]
    )


@pytest.mark.parametrize(("event", "seen"), [("search", SearchSeen), ("write", WriteSeen)])
def test_the_members_of_an_event_are_told(event: str, seen: type, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"search": ("o", "n", "rrf", "answered", 0.1), "write": ("o", "n", "memory.set", "written", 0.1, 1)}
    with logging_as("json", "info"):
        {"search": logs.searched, "write": logs.wrote}[event](seen(*given[event]), logs.Hasher())
    written = set(re.findall(r'"(\w+)":', capsys.readouterr().err)) - {"timestamp", "level", "logger", "event"}
    told = set(re.findall(r"`(\w+)`", EVENTS[event][2])) - {"state", "ms", "count"}
    assert told == written | {"request_id"}


def test_every_event_is_one_that_is_logged() -> None:
    source = "".join(inspect.getsource(module) for module in (logs, command))
    for module in ("api.serve", "api.failures", "cli.serve", "embed.caller", "service.once", "service.open"):
        source += inspect.getsource(__import__(f"loom_server.{module}", fromlist=["_"]))
    assert [event for event in EVENTS if f'"{event}"' not in source] == []
