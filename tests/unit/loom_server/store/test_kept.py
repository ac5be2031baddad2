"""Rows kept in the process: found by their tenant alone, and never as they were before their end."""

from __future__ import annotations

import pytest

from loom_server.model.memory import Memory
from loom_server.model.scope import Identity, Scope
from loom_server.store.kept import KeptRows

SCOPE = Scope("org", "space")


def row(row_id: int, org: str = "org", namespace: str = "space") -> Memory:
    return Memory(row_id, Identity(org, namespace), f"key {row_id}", 1, "live", "", "text", "")


def test_what_is_kept_is_found() -> None:
    kept = KeptRows(10)
    kept.keep([row(1), row(2)], kept.moment)
    assert kept.look_up(SCOPE, [1, 2, 3]) == {1: row(1), 2: row(2)}


@pytest.mark.parametrize("scope", [Scope("other", "space"), Scope("org", "other")])
def test_a_row_of_another_tenant_is_not_found_by_its_id(scope: Scope) -> None:
    kept = KeptRows(10)
    kept.keep([row(1)], kept.moment)
    assert kept.look_up(scope, [1]) == {}


def test_a_forgotten_row_is_gone_and_others_stay() -> None:
    kept = KeptRows(10)
    kept.keep([row(1), row(2)], kept.moment)
    kept.forget([1, 99])
    assert kept.look_up(SCOPE, [1, 2]) == {2: row(2)}
    kept.forget()
    assert kept.look_up(SCOPE, [2]) == {}


def test_what_was_read_before_a_row_ended_is_not_kept() -> None:
    kept = KeptRows(10)
    began = kept.moment
    kept.forget([1])
    kept.keep([row(1)], began)
    assert kept.look_up(SCOPE, [1]) == {}


def test_the_longest_unused_row_goes_first() -> None:
    kept = KeptRows(2)
    kept.keep([row(1), row(2)], kept.moment)
    kept.look_up(SCOPE, [1])
    kept.keep([row(3)], kept.moment)
    assert set(kept.look_up(SCOPE, [1, 2, 3])) == {1, 3}


def test_a_size_of_zero_keeps_nothing() -> None:
    kept = KeptRows(0)
    kept.keep([row(1)], kept.moment)
    assert kept.look_up(SCOPE, [1]) == {}
