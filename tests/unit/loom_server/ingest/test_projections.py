"""The rows of a group, worked by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import count

import numpy as np

from loom_server.ingest.content import sha256_of
from loom_server.ingest.judge import Version, judge
from loom_server.ingest.projections import counts_of, embed_delta, memory_rows, net, posting_rows, vector_rows
from loom_server.ingest.request import Removal, Write, key_of
from loom_server.store.statistics import EMBED, FACT, CommitDelta
from loom_server.store.store import Insert
from writing import a_draft, a_key

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ORG = "acme"


def a_write(key: str, index: dict[str, int], tokens: tuple[str, ...] = (), namespace: str = "notes") -> Write:
    draft = a_draft(ORG, key, text=" ".join(index), namespace=namespace)
    vector = np.array([1.0, 0.0], dtype=np.float32) if tokens else None
    return Write(draft, key_of(draft), sha256_of(draft.value), index, sum(index.values()), vector, tokens)


def a_group() -> tuple[Version, ...]:
    """Ids 10 to 14: `a` and what supersedes it, `b`, then `c` and its tombstone."""
    writes = [
        a_write("a", {"red": 1}, ("r",)),
        a_write("a", {"red": 2, "fox": 1}, ("r", "r", "f")),
        a_write("b", {"red": 1}),
        a_write("c", {"hen": 1}),
    ]
    return judge([*writes, Removal(a_key(ORG, "c"))], {}, count(10).__next__, NOW).versions


def column(insert: Insert, name: str) -> list[object]:
    return list(insert.data[insert.columns.index(name)])


def test_memory_has_every_version() -> None:
    rows = memory_rows(a_group())
    assert column(rows, "id") == [10, 11, 12, 13, 14]
    assert column(rows, "status") == ["superseded", "live", "live", "superseded", "tombstoned"]
    assert column(rows, "superseded_by") == [11, 0, 0, 14, 0]
    assert column(rows, "memory_key") == ["a", "a", "b", "c", "c"]
    assert {len(data) for data in rows.data} == {5}


def test_postings_have_a_row_a_token_and_one_a_version() -> None:
    rows = posting_rows(a_group())
    found = list(zip(*(column(rows, name) for name in ("id", "token", "tf", "dl", "live")), strict=True))
    assert found == [
        (10, "", 1, 1, 0),
        (10, "red", 1, 1, 0),
        (11, "", 1, 3, 1),
        (11, "red", 2, 3, 1),
        (11, "fox", 1, 3, 1),
        (12, "", 1, 1, 1),
        (12, "red", 1, 1, 1),
        (13, "", 1, 1, 0),
        (13, "hen", 1, 1, 0),
    ]
    assert set(column(rows, "plane")) == {FACT}


def test_vectors_are_of_the_versions_that_have_one() -> None:
    rows = vector_rows(a_group(), "m")
    assert (column(rows, "id"), column(rows, "live"), set(column(rows, "model"))) == ([10, 11], [0, 1], {"m"})
    assert np.array(rows.data[-1]).shape == (2, 2)
    assert len(vector_rows(a_group()[2:], "m")) == 0


def test_only_live_versions_count_and_tokens_only_with_a_vector() -> None:
    fact, embed = net(counts_of(a_group()))
    assert fact == CommitDelta(ORG, "notes", FACT, 2, 4, {"red": 2, "fox": 1}, {"red": 3, "fox": 1})
    assert embed == CommitDelta(ORG, "notes", EMBED, 1, 3, {"r": 1, "f": 1}, {"r": 2, "f": 1})


def test_namespaces_count_apart() -> None:
    writes = [a_write("a", {"red": 1}), a_write("a", {"red": 1}, namespace="other")]
    deltas = net(counts_of(judge(writes, {}, count(1).__next__, NOW).versions))
    assert [(delta.namespace, delta.docs, dict(delta.df)) for delta in deltas] == [
        ("notes", 1, {"red": 1}),
        ("other", 1, {"red": 1}),
    ]


def test_what_cancels_out_is_left_out() -> None:
    gone = embed_delta(ORG, "notes", [("r", "f")])
    come = embed_delta(ORG, "notes", [("r", "h")])
    (change,) = net([come, gone.negated()])
    assert (change.docs, change.length) == (0, 0)
    assert (change.df, change.cf) == ({"h": 1, "f": -1}, {"h": 1, "f": -1})
    assert net([come, come.negated()]) == ()
    assert net([replace(come, docs=0, length=0, df={}, cf={})]) == ()
