from __future__ import annotations

from pathlib import Path

from loom_server.ingest.files.entry import Entry, Owner, entry_of
from loom_server.ingest.files.read import read
from loom_server.ingest.files.row import Bounds, Fault, Row, SourceFile


def items(path: Path, data: bytes, bounds: Bounds | None = None) -> list[Row | Fault]:
    path.write_bytes(data)
    return list(read(SourceFile(path, path.name, "memories", len(data)), bounds))


def test_a_line_is_a_row_with_its_place(tmp_path: Path) -> None:
    data = b'{"memory_key":"a","value":1}\n\n{"memory_key":"b","value":{"x":[]}}'
    assert items(tmp_path / "m.jsonl", data) == [
        Row("m.jsonl", "1", {"memory_key": "a", "value": 1}, 29),
        Row("m.jsonl", "3", {"memory_key": "b", "value": {"x": []}}, len(data)),
    ]


def test_a_broken_line_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    good = b'{"memory_key":"a","value":1}'
    found = items(tmp_path / "m.jsonl", b"\n".join([b"{oops", b"[1]", b'"\xff"', good]))
    assert [str(fault) for fault in found[:3]] == [
        "m.jsonl:1: not JSON: unexpected character, expected a string key at column 2",
        "m.jsonl:2: a memory is an object of memory.set fields",
        "m.jsonl:3: not UTF-8 (byte 0xff); save the file as UTF-8",
    ]
    assert isinstance(found[3], Row)


def test_a_line_that_would_not_be_kept_as_it_is_costs_itself_alone(tmp_path: Path) -> None:
    good = b'{"memory_key":"a","value":[[1]]}'
    found = items(
        tmp_path / "m.jsonl",
        b"\n".join([b'{"value":18446744073709551616}', b'{"value":[[[]]]}', good]),
        Bounds(nesting=3),
    )
    assert [str(fault) for fault in found[:2]] == [
        "m.jsonl:1: The whole number 18446744073709551616 has more than 64 bits; send it as text.",
        "m.jsonl:2: nested deeper than 3 levels",
    ]
    assert isinstance(found[2], Row)


def test_a_line_without_end_costs_itself_alone(tmp_path: Path) -> None:
    good = b'{"memory_key":"a","value":1}\n'
    found = items(tmp_path / "m.jsonl", b"x" * 1000 + b"\n" + good, Bounds(line_bytes=100))
    assert str(found[0]) == "m.jsonl:1: longer than 100 bytes"
    assert found[1] == Row("m.jsonl", "2", {"memory_key": "a", "value": 1}, 1001 + len(good))


def test_a_file_without_lines_is_skipped(tmp_path: Path) -> None:
    assert items(tmp_path / "m.jsonl", b"\n\n") == [Fault("m.jsonl", "", "empty", "skipped")]


def row(**fields: object) -> Row:
    return Row("m.jsonl", "7", fields)


def test_each_wrong_field_is_named_with_file_and_line() -> None:
    faults = entry_of(row(memory_key="k", valeu=1, confidence=2.0), Owner())
    assert isinstance(faults, tuple)
    assert sorted(str(fault) for fault in faults) == [
        "m.jsonl:7: confidence: Input should be less than or equal to 1",
        "m.jsonl:7: valeu: unknown field",
        "m.jsonl:7: value: required",
    ]


def test_fields_that_stand_wrongly_to_each_other_are_named() -> None:
    faults = entry_of(row(memory_key="k", value=1, valid_at="2026-02-01", valid_to="2026-01-01"), Owner())
    assert isinstance(faults, tuple)
    assert [str(fault) for fault in faults] == ["m.jsonl:7: valid_to: must not lie before valid_at"]


def test_a_row_keeps_its_own_writer_and_takes_the_rest_from_the_owner() -> None:
    owner = Owner(namespace="platform", agent="bot", user_id="mara")
    entry = entry_of(row(memory_key="k", value=1, namespace="design", agent="-"), owner)
    assert isinstance(entry, Entry)
    assert (entry.org, entry.namespace, entry.agent, entry.user_id) == ("dev", "design", "-", "mara")
