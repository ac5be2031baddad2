"""Answers of the real service, drawn."""

from __future__ import annotations

import io

import pytest
from rich.console import Console, RenderableType

from loom_client import wire
from loom_server.cli import draw
from loom_server.cli.door import Door, LocalServices, request_of
from loom_server.errors import InvalidInput
from loom_server.service.services import Services


def drawn(*parts: RenderableType) -> str:
    console = Console(file=io.StringIO(), width=160)
    console.print(*parts, sep="\n")
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.fixture
def door(services: Services, org: str) -> Door:
    door = Door(LocalServices(services, services.settings))
    for key, value in {
        "deploy/window": "Deploys go out on [Tuesdays].\n\nNot on Fridays.",
        "office/flu": "A doctor gives flu vaccinations.",
    }.items():
        door.set(wire.MemorySetRequest(org=org, memory_key=key, value=value))
    return door


def ask(door: Door, org: str, query: str) -> wire.MemorySearchResponse:
    return door.search(wire.MemorySearchRequest(org=org, query=query, explain=True))


def test_an_answer_is_a_table_and_a_line(door: Door, org: str) -> None:
    text = drawn(*draw.answer(ask(door, org, "When do deploys go out?")))
    assert "deploy/window" in text
    assert "Deploys go out on [Tuesdays]. ¶ Not on Fridays." in text
    assert text.rstrip().splitlines()[-1].startswith("answered  confidence 0.")


def test_a_later_page_counts_on(door: Door, org: str) -> None:
    request = wire.MemorySearchRequest(org=org, query="When do deploys go out?", top_k=1, explain=True)
    later = door.search(request.model_copy(update={"page": door.search(request).next_page}))
    for text in (drawn(*draw.answer(later)), drawn(*draw.explanation(later))):
        assert any(
            line.split()[:2] in (["2", "office/flu"], ["2t", "office/flu"], ["2f", "office/flu"])
            for line in text.splitlines()
        )


def test_an_abstain_says_why(door: Door, org: str) -> None:
    text = drawn(*draw.answer(ask(door, org, "quantum chromodynamics")))
    assert "abstained  below_threshold: " in text


def test_an_explanation_has_every_part(door: Door, org: str) -> None:
    response = ask(door, org, "When do deploys go out?")
    text = drawn(*draw.explanation(response))
    for part in ("Plan", "Time", "Hits", "Verdict", "fact #1", "deploys"):
        assert part in text
    assert all(stage in text for stage in response.retrieval_work.ms)
    assert all(name in text for name in response.results[0].score_components or {})


def test_an_empty_namespace_is_drawn_without_tables(door: Door, org: str) -> None:
    response = door.search(wire.MemorySearchRequest(org=org, namespace="empty", query="anything", explain=True))
    assert "abstained  no_match" in drawn(*draw.explanation(response))
    told = drawn(*draw.answer(response)).splitlines()
    assert told[-1] == f"Check org '{org}' and namespace 'empty', or write a memory there first."


def test_a_mark_is_told_below_the_table_only_where_a_row_bears_it(door: Door, org: str) -> None:
    hit = ask(door, org, "When do deploys go out?").results[0]
    rows = {
        "f: under the floor": (True, True),
        "t: under the abstain threshold": (False, True),
    }
    for told, (floor, threshold) in rows.items():
        marked = hit.model_copy(update={"below_floor": floor, "below_threshold": threshold})
        assert drawn(draw.hits_table([marked])).rstrip().splitlines()[-1].strip() == told
    clear = hit.model_copy(update={"below_floor": False, "below_threshold": False})
    assert "under the" not in drawn(draw.hits_table([clear]))


def test_numbers_agree_with_their_nouns(door: Door, org: str) -> None:
    work = ask(door, org, "deploys").retrieval_work.model_copy(update={"statements": 1, "rows": 2})
    assert "1 statement, 2 rows" in drawn(draw.stages_table(work))


def test_long_excerpts_are_cut(door: Door, org: str) -> None:
    door.set(wire.MemorySetRequest(org=org, memory_key="long", value="word " * 500))
    (row,) = (hit for hit in ask(door, org, "word").results if hit.memory_key == "long")
    table = drawn(draw.hits_table([row]))
    assert "…" in table
    assert table.count("word") == pytest.approx(draw.EXCERPT_CHARS / 5, abs=1)


def test_a_request_names_what_is_wrong_with_it() -> None:
    with pytest.raises(InvalidInput, match="memory_key is required"):
        request_of("memory.set", {"value": 1})
