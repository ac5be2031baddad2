"""Files into the real store, and what a second run does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from loom_client import wire
from loom_server.cli.door import Door, LocalServices
from loom_server.ingest.files.batches import BATCH_ROWS
from loom_server.ingest.files.entry import Owner
from loom_server.ingest.files.load import Progress, Report, ingest_path
from loom_server.service.services import Services


@pytest.fixture
def door(services: Services) -> Door:
    return Door(LocalServices(services, services.settings))


@pytest.fixture
def owner(org: str) -> Owner:
    return Owner(org=org, namespace="team")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "guide.md").write_text("# Guide\n\nRead me.\n\n## Setup\n\nInstall it.\n\n## Use\n\nRun it.\n")
    return folder


def keys(door: Door, owner: Owner) -> list[str]:
    listed = door.list(wire.MemoryListRequest(org=owner.org, namespace=owner.namespace, limit=1000))
    return [memory.memory_key for memory in listed.memories]


def counts(report: Report) -> tuple[int, int, int]:
    return report.written, report.unchanged, report.removed


def write_lines(path: Path, *rows: Mapping[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_second_run_adds_nothing(docs: Path, door: Door, owner: Owner) -> None:
    first, second = ingest_path(docs, door, owner), ingest_path(docs, door, owner)
    assert (first.files, first.rows, counts(first), first.faults) == (1, 3, (3, 0, 0), ())
    assert (second.files, second.rows, counts(second), second.faults) == (1, 3, (0, 3, 0), ())
    assert keys(door, owner) == ["docs/guide.md#guide/1", "docs/guide.md#guide/setup/1", "docs/guide.md#guide/use/1"]


def test_what_a_file_no_longer_makes_is_removed(docs: Path, door: Door, owner: Owner) -> None:
    ingest_path(docs, door, owner)
    (docs / "guide.md").write_text("# Guide\n\nRead me twice.\n")
    assert counts(ingest_path(docs, door, owner)) == (1, 0, 2)
    assert keys(door, owner) == ["docs/guide.md#guide/1"]
    (docs / "guide.md").write_text("\n")
    assert counts(ingest_path(docs, door, owner)) == (0, 0, 1)
    assert keys(door, owner) == []


def test_only_the_files_own_rows_are_removed(docs: Path, door: Door, owner: Owner) -> None:
    by_hand = wire.MemorySetRequest(
        org=owner.org, namespace=owner.namespace, memory_key="docs/guide.md#by-hand", value="Mine."
    )
    door.set(by_hand)
    door.set(by_hand.model_copy(update={"user_id": "mara", "source_resource_id": "docs/guide.md"}))
    ingest_path(docs, door, owner)
    (docs / "guide.md").write_text("# Guide\n\nRead me.\n")
    assert ingest_path(docs, door, owner).removed == 2
    assert keys(door, owner) == ["docs/guide.md#by-hand", "docs/guide.md#by-hand", "docs/guide.md#guide/1"]


def test_a_file_that_broke_keeps_what_it_has(docs: Path, door: Door, owner: Owner) -> None:
    ingest_path(docs, door, owner)
    (docs / "guide.md").write_bytes(b"# Guide\n\ncaf\xe9\n")
    report = ingest_path(docs, door, owner)
    assert (len(report.failed), report.removed, len(keys(door, owner))) == (1, 0, 3)


def test_the_rest_of_a_folder_goes_on(docs: Path, door: Door, owner: Owner) -> None:
    (docs / "a-binary.md").write_bytes(b"\0\0")
    (docs / "b-broken.json").write_text("{")
    (docs / "logo.png").write_bytes(b"x")
    write_lines(docs / "c.jsonl", {"memory_key": "k1"}, {"memory_key": "k2", "value": 2})
    report = ingest_path(docs, door, owner)
    assert [str(fault).split(": ", 1)[0] for fault in report.failed] == [
        "docs/a-binary.md",
        "docs/b-broken.json:1",
        "docs/c.jsonl:1",
    ]
    assert [fault.file for fault in report.skipped] == ["docs/logo.png"]
    assert report.written == 4
    assert "k2" in keys(door, owner)


def test_a_chain_of_values_is_written_once_and_keeps_its_history(tmp_path: Path, door: Door, owner: Owner) -> None:
    path = write_lines(tmp_path / "m.jsonl", *({"memory_key": "pool", "value": size} for size in (60, 80, 120)))
    assert counts(ingest_path(path, door, owner)) == (3, 0, 0)
    assert counts(ingest_path(path, door, owner)) == (0, 3, 0)
    history = door.history(wire.MemoryHistoryRequest(org=owner.org, namespace=owner.namespace, memory_key="pool"))
    assert [version.value for version in history.versions] == [120, 80, 60]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"tags": ["swim"]}),
        ({"tags": ["swim"]}, {}),
        ({"confidence": 0.9}, {"confidence": 0.8}),
        ({"metadata": {"lane": 1}}, {"metadata": {"lane": 2}}),
        ({"valid_at": "2026-05-01"}, {"valid_at": "2026-05-02"}),
    ],
)
def test_a_change_of_any_field_at_the_end_of_a_chain_is_loaded(
    tmp_path: Path, door: Door, owner: Owner, before: Mapping[str, object], after: Mapping[str, object]
) -> None:
    first = {"memory_key": "pool", "value": 60}
    last = {"memory_key": "pool", "value": 80}
    path = tmp_path / "m.jsonl"
    for fields in (before, after):
        write_lines(path, first, {**last, **fields})
        assert counts(ingest_path(path, door, owner)) == (2, 0, 0)
        assert counts(ingest_path(path, door, owner)) == (0, 2, 0)
    got = door.get(wire.MemoryGetRequest(org=owner.org, namespace=owner.namespace, memory_key="pool"))
    assert (got.version, got.value) == (4, 80)
    assert got.tags == (("swim",) if "tags" in after else ())


def test_a_chain_whose_end_expects_the_value_before_it_is_written_once(
    tmp_path: Path, door: Door, owner: Owner
) -> None:
    path = write_lines(
        tmp_path / "m.jsonl",
        {"memory_key": "pool", "value": 60},
        {"memory_key": "pool", "value": 80, "if_match_sha256": sha256(b"60").hexdigest()},
    )
    assert counts(ingest_path(path, door, owner)) == (2, 0, 0)
    assert counts(ingest_path(path, door, owner)) == (0, 2, 0)


def test_a_chain_is_one_writers(tmp_path: Path, door: Door, owner: Owner) -> None:
    path = write_lines(
        tmp_path / "m.jsonl",
        {"memory_key": "pool", "value": 1, "user_id": "ines"},
        {"memory_key": "pool", "value": 2},
        {"memory_key": "pool", "value": 3, "user_id": "ines"},
    )
    assert counts(ingest_path(path, door, owner)) == (3, 0, 0)
    assert counts(ingest_path(path, door, owner)) == (0, 3, 0)
    found = {
        user: door.get(
            wire.MemoryGetRequest(org=owner.org, namespace=owner.namespace, user_id=user, memory_key="pool")
        ).value
        for user in ("ines", "-")
    }
    assert found == {"ines": 3, "-": 2}


def test_rows_go_to_the_namespace_they_name(tmp_path: Path, door: Door, owner: Owner) -> None:
    rows = [{"memory_key": "k", "value": "v", "namespace": name} for name in ("design", "platform")]
    assert ingest_path(write_lines(tmp_path / "m.jsonl", *rows), door, owner).written == 2
    assert keys(door, owner) == []
    assert keys(door, replace(owner, namespace="design")) == ["k"]


def test_more_rows_than_a_batch_holds(tmp_path: Path, door: Door, owner: Owner) -> None:
    number = BATCH_ROWS + 50
    path = write_lines(tmp_path / "m.jsonl", *({"memory_key": f"k{n:04d}", "value": n} for n in range(number)))
    assert counts(ingest_path(path, door, owner)) == (number, 0, 0)
    assert keys(door, owner) == [f"k{n:04d}" for n in range(number)]


def test_a_row_that_the_service_refuses_costs_itself_alone(tmp_path: Path, door: Door, owner: Owner) -> None:
    rows = [
        {"memory_key": "a", "value": 1},
        {"memory_key": "b", "value": 2, "if_match_sha256": "0" * 64},
        {"memory_key": "c", "value": 3},
    ]
    report = ingest_path(write_lines(tmp_path / "m.jsonl", *rows), door, owner)
    assert [f"{fault.file}:{fault.at}" for fault in report.failed] == ["m.jsonl:2"]
    assert keys(door, owner) == ["a", "c"]


def test_a_chat_is_found_by_its_session(tmp_path: Path, door: Door, owner: Owner) -> None:
    path = tmp_path / "monday.json"
    path.write_text(
        json.dumps([{"role": "user", "content": "The pool is full."}, {"role": "user", "content": "Again."}])
    )
    assert counts(ingest_path(path, door, owner)) == (2, 0, 0)
    path.write_text(json.dumps([{"role": "user", "content": "The pool is full."}]))
    assert counts(ingest_path(path, door, owner)) == (0, 1, 1)
    request = wire.MemoryListRequest(org=owner.org, namespace=owner.namespace, session_id="monday")
    assert [memory.value for memory in door.list(request).memories] == ["User: The pool is full."]


def test_progress_is_what_is_written(tmp_path: Path, door: Door, owner: Owner) -> None:
    rows = ({"memory_key": f"k{n:04d}", "value": n} for n in range(2 * BATCH_ROWS))
    path = write_lines(tmp_path / "m.jsonl", *rows)
    told: list[Progress] = []
    ingest_path(path, door, owner, told.append)
    size = path.stat().st_size
    assert (told[0].done, told[-1].done, told[-1].total) == (0, size, size)
    assert [progress.done for progress in told] == sorted(progress.done for progress in told)
    assert any(0.4 * size < progress.done < 0.6 * size for progress in told)
