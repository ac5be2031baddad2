"""Of those who claim one version of a key at most one holds it."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from loom_server.errors import StoreUnavailable
from loom_server.model.clock import RowIds, SystemClock
from loom_server.model.memory import Key
from loom_server.store.claims import COMMIT_WITHIN_S, Claim, Claims
from loom_server.store.embedded import EmbeddedStore
from writing import a_key, damage


class Hands:
    """A monotonic clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def claims(store: EmbeddedStore, tag: int, monotonic: Hands | None = None, timeout_s: float = 30.0) -> Claims:
    return Claims(store, RowIds(SystemClock(), tag=tag).next, timeout_s, monotonic or time.monotonic)


def test_the_second_is_told_what_the_first_holds(store: EmbeddedStore, org: str) -> None:
    first, second = claims(store, 1), claims(store, 2)
    wanted = {Claim(a_key(org, "a"), 3), Claim(a_key(org, "b"), 1)}
    assert first.take(wanted, time.monotonic()).contested == frozenset()
    other = second.take({Claim(a_key(org, "a"), 3), Claim(a_key(org, "c"), 3)}, time.monotonic())
    assert other.contested == {Claim(a_key(org, "a"), 3)}


def test_keys_and_versions_are_told_apart(store: EmbeddedStore, org: str) -> None:
    first, second = claims(store, 1), claims(store, 2)
    first.take({Claim(a_key(org, "a"), 1), Claim(a_key(org, "b"), 2)}, time.monotonic())
    wanted = {Claim(a_key(org, "a"), 2), Claim(a_key(org, "b"), 1), Claim(a_key(org, "a", "other"), 1)}
    assert second.take(wanted, time.monotonic()).contested == frozenset()


def test_what_is_given_back_can_be_had(store: EmbeddedStore, org: str) -> None:
    first, second = claims(store, 1), claims(store, 2)
    wanted = {Claim(a_key(org), 1)}
    first.give_back(first.take(wanted, time.monotonic()))
    assert second.take(wanted, time.monotonic()).contested == frozenset()


def test_who_steps_back_holds_nothing(store: EmbeddedStore, org: str) -> None:
    first, second, third = (claims(store, tag) for tag in (1, 2, 3))
    first.take({Claim(a_key(org, "a"), 1)}, time.monotonic())
    assert second.take({Claim(a_key(org, "a"), 1), Claim(a_key(org, "b"), 1)}, time.monotonic()).contested
    assert third.take({Claim(a_key(org, "b"), 1)}, time.monotonic()).contested == frozenset()


def test_a_process_is_no_rival_of_itself(store: EmbeddedStore, org: str) -> None:
    own = claims(store, 1)
    for _ in range(2):
        assert own.take({Claim(a_key(org), 1)}, time.monotonic()).contested == frozenset()


@pytest.mark.parametrize(("age", "void"), [(55, False), (61, True)])
def test_a_claim_is_void_after_its_time(store: EmbeddedStore, org: str, age: int, void: bool) -> None:
    columns = "org, namespace, memory_key, version, claimant, seconds, at"
    values = "{org:String}, 'notes', 'k', 1, 1, 60, now64(3) - toIntervalSecond({age:UInt32})"
    damage(store, f"INSERT INTO loom.claims ({columns}) SELECT {values}", org=org, age=age)
    wanted = {Claim(a_key(org), 1)}
    assert claims(store, 2).take(wanted, time.monotonic()).contested == (frozenset() if void else wanted)


def test_a_judgement_that_is_too_old_is_judged_again(store: EmbeddedStore, org: str) -> None:
    hands = Hands()
    own = claims(store, 1, hands)
    wanted = {Claim(a_key(org), 1)}
    assert own.take(wanted, hands.now - COMMIT_WITHIN_S - 0.1).contested == wanted
    assert own.take(wanted, hands.now - COMMIT_WITHIN_S + 0.1).contested == frozenset()


def test_a_commit_begins_in_time_or_not_at_all(store: EmbeddedStore, org: str) -> None:
    hands = Hands()
    own = claims(store, 1, hands)
    claimed = own.take({Claim(a_key(org), 1)}, hands.now)
    hands.now += COMMIT_WITHIN_S - 0.1
    own.check(claimed)
    hands.now += 0.2
    with pytest.raises(StoreUnavailable, match="nothing was written"):
        own.check(claimed)


def test_of_many_at_once_none_holds_what_another_holds(store: EmbeddedStore, org: str) -> None:
    holders: Counter[Claim] = Counter()
    guard = threading.Lock()
    keys = [a_key(org, name) for name in "abc"]

    def run(tag: int) -> None:
        own, chance = claims(store, tag), random.Random(tag)
        for version in range(1, 9):
            wanted = {Claim(key, version) for key in chance.sample(keys, 2)}
            if not own.take(wanted, time.monotonic()).contested:
                with guard:
                    holders.update(wanted)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(run, range(4)))
    assert holders
    assert set(holders.values()) == {1}


def test_nothing_wanted_asks_nothing(store: EmbeddedStore) -> None:
    assert claims(store, 1).take((), time.monotonic()).contested == frozenset()


def test_no_memory_is_claimed_by_a_setting_of_its_namespace(store: EmbeddedStore, org: str) -> None:
    claims(store, 1).take({Claim(Key(org, "notes", "", "", "", ""), 1)}, time.monotonic())
    assert claims(store, 2).take({Claim(a_key(org), 1)}, time.monotonic()).contested == frozenset()
