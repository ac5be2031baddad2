"""Blocks for the engine: worked bytes, and every type of the tables there and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_server.store.embedded import EmbeddedStore
from loom_server.store.native import bfloat16, encode, sent_type
from loom_server.store.store import Insert, Statement

MOMENT = datetime(2024, 2, 29, 12, 0, 0, 1000, tzinfo=UTC)
LONG = "long " * 60


def block(kind: str, *values: object) -> bytes:
    """The data of one column called `c`, without its heading."""
    encoded = encode(Insert("t", ("c",), (list(values),)), {"c": kind})
    heading = bytes((1, len(values), 1)) + b"c" + bytes((len(sent_type(kind)),)) + sent_type(kind).encode()
    assert encoded.startswith(heading)
    return encoded.removeprefix(heading)


@pytest.mark.parametrize(
    ("kind", "values", "data"),
    [
        ("UInt16", [1, 258], b"\x01\x00\x02\x01"),
        ("Int64", [-1], b"\xff" * 8),
        ("String", ["a", "é", ""], b"\x01a\x02\xc3\xa9\x00"),
        ("LowCardinality(String)", ["b"], b"\x01b"),
        ("Enum8('live' = 1)", ["live"], b"\x04live"),
        ("FixedString(3)", ["ab"], b"ab\0"),
        ("Nullable(String)", ["a", None], b"\x00\x01\x01a\x00"),
        (
            "Array(String)",
            [["a", "b"], [], ["c"]],
            b"".join(n.to_bytes(8, "little") for n in (2, 2, 3)) + b"\1a\1b\1c",
        ),
        ("Array(BFloat16)", [[1.0, -2.0]], (2).to_bytes(8, "little") + b"\x80\x3f\x00\xc0"),
        ("DateTime64(3, 'UTC')", [datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)], (1000).to_bytes(8, "little")),
        ("Nullable(DateTime64(3, 'UTC'))", [None], b"\x01" + bytes(8)),
    ],
)
def test_a_column_is_laid_out_as_the_engine_reads_it(kind: str, values: list[object], data: bytes) -> None:
    assert block(kind, *values) == data


@pytest.mark.parametrize(("length", "heading"), [(127, b"\x7f"), (128, b"\x80\x01"), (300, b"\xac\x02")])
def test_a_length_takes_seven_bits_a_byte(length: int, heading: bytes) -> None:
    assert block("String", "x" * length) == heading + b"x" * length


@pytest.mark.parametrize(
    ("value", "stored"),
    [(1.0, 0x3F80), (1.0 + 2**-8, 0x3F80), (1.0 + 3 * 2**-8, 0x3F82), (1.0 + 2**-8 + 2**-20, 0x3F81), (-0.0, 0x8000)],
)
def test_bfloat16_rounds_half_to_even(value: float, stored: int) -> None:
    assert bfloat16(np.array([value], dtype=np.float32)).tolist() == [stored]


@given(st.floats(min_value=2**-100, max_value=2**100, width=32))
def test_bfloat16_is_within_its_precision(value: float) -> None:
    stored = bfloat16(np.array([value], dtype=np.float32)).astype(np.uint32) << 16
    assert abs(float(stored.view(np.float32)[0]) - value) <= value * 2**-8


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("UInt8", 256),
        ("UInt64", -1),
        ("UInt8", "one"),
        ("String", None),
        ("String", 5),
        ("String", "\ud800"),
        ("FixedString(2)", "abc"),
        ("DateTime64(3, 'UTC')", datetime(2024, 1, 1)),
        ("Array(String)", None),
        ("Map(String, String)", {}),
        ("Array(BFloat16)", ["x"]),
    ],
)
def test_a_value_that_does_not_fit_names_its_column(kind: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"^t\.c takes "):
        encode(Insert("t", ("c",), ([value],)), {"c": kind})


def test_columns_must_be_known_and_of_one_length() -> None:
    with pytest.raises(ValueError, match="t has no column d"):
        encode(Insert("t", ("d",), ([1],)), {"c": "UInt8"})
    with pytest.raises(ValueError, match=r"t\.d has 1 values where 2 are needed"):
        encode(Insert("t", ("c", "d"), ([1, 2], [1])), {"c": "UInt8", "d": "UInt8"})


VALUES: list[tuple[str, list[object]]] = [
    ("UInt8", [0, 255]),
    ("UInt16", [0, 65535]),
    ("UInt32", [0, 2**32 - 1]),
    ("UInt64", [0, 2**64 - 1]),
    ("Int8", [-128, 127]),
    ("Int16", [-32768, 32767]),
    ("Int32", [-(2**31), 2**31 - 1]),
    ("Int64", [-(2**63), 2**63 - 1]),
    ("Float32", [0.5, -1.5]),
    ("Float64", [0.1, -1e300]),
    ("Bool", [True, False]),
    ("String", ["", LONG]),
    ("LowCardinality(String)", ["a", "a"]),
    ("Enum8('live' = 1, 'gone' = -2)", ["gone", "live"]),
    ("Nullable(String)", [None, "x"]),
    ("Nullable(UInt8)", [7, None]),
    ("DateTime64(3, 'UTC')", [MOMENT, MOMENT]),
    ("Nullable(DateTime64(3, 'UTC'))", [None, MOMENT]),
    ("Array(String)", [[], ["a", "b"]]),
    ("Array(LowCardinality(String))", [["a"], ["a", "a"]]),
    ("Array(UInt32)", [[1], []]),
    ("Array(Array(UInt8))", [[[1], []], []]),
    ("Array(Nullable(String))", [[None, "a"], []]),
    ("Array(BFloat16)", [[1.0, -0.5], []]),
]


@pytest.mark.parametrize(("kind", "values"), VALUES, ids=[kind for kind, _ in VALUES])
def test_a_type_is_read_as_it_was_written(store: EmbeddedStore, kind: str, values: list[object]) -> None:
    table = f"types_{uuid4().hex}"
    store.command(Statement("test.ddl", f"CREATE TABLE loom.{table} (n UInt8, c {kind}) ENGINE = MergeTree ORDER BY n"))
    store.insert(Insert(table, ("n", "c"), (range(len(values)), values)))
    read = store.query(Statement("test.read", f"SELECT c FROM loom.{table} ORDER BY n")).column("c")
    store.command(Statement("test.ddl", f"DROP TABLE loom.{table}"))
    assert list(read) == values


def test_a_moment_in_another_zone_is_the_same_moment() -> None:
    there = MOMENT.astimezone(timezone(timedelta(hours=-7)))
    assert block("DateTime64(3, 'UTC')", there) == block("DateTime64(3, 'UTC')", MOMENT)


@pytest.mark.parametrize(
    "vectors",
    [
        np.array([[0.5, 1.0], [2.0, 4.0]], dtype=np.float32),
        [np.array([0.5, 1.0], dtype=np.float32), np.array([2.0, 4.0], dtype=np.float32)],
        [[0.5, 1.0], [2.0, 4.0]],
    ],
    ids=["matrix", "rows", "lists"],
)
def test_vectors_come_in_any_form(vectors: list[object]) -> None:
    offsets = (2).to_bytes(8, "little") + (4).to_bytes(8, "little")
    assert block("Array(BFloat16)", *vectors) == offsets + b"\x00\x3f\x80\x3f\x00\x40\x80\x40"
    insert = Insert("t", ("c",), (vectors,))
    assert encode(insert, {"c": "Array(BFloat16)"}).endswith(offsets + b"\x00\x3f\x80\x3f\x00\x40\x80\x40")
