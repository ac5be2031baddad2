"""After a failure of the store in the middle of a group: nothing is counted twice, nothing is written over it."""

from __future__ import annotations

import time

from loom_server.errors import StoreUnavailable
from loom_server.keep.sweep import sweep
from loom_server.model.deadline import Deadline
from loom_server.store.embedded import EmbeddedStore
from writing import HASH, FailingStore, SetClock, a_draft, settle, sound, write, writing

FAILED_TRY_S = 0.6
PAST_THE_LAG_S = 3


def test_roll_ups_in_doubt_are_not_rebuilt_from_a_group_in_flight(store: EmbeddedStore, org: str) -> None:
    failing, clock = FailingStore(store), SetClock()
    with writing(failing, clock=clock) as writer:
        write(writer, a_draft(org, "a", "red fox"))
        failing.broken = {"insert.token_df"}
        time.sleep(FAILED_TRY_S)  # paying was tried, failed, and left the namespace in doubt
        failing.broken = set()
        clock.move(PAST_THE_LAG_S)  # so the next group must see the debt paid first
        write(writer, a_draft(org, "b", "blue whale"))
        settle(writer)
    assert sound(store, org)


def test_nothing_is_written_over_a_group_that_is_not_put_right(store: EmbeddedStore, org: str) -> None:
    failing = FailingStore(store)
    with writing(failing) as writer:
        write(writer, a_draft(org, "a", "red fox"))
        failing.broken = {"write.counted", "write.committed"}  # reads alone fail, as under memory pressure
        for key in ("a", "b"):
            (answer,) = writer.write([a_draft(org, key, "blue whale")], Deadline(10))
            assert isinstance(answer, StoreUnavailable)
        failing.broken = set()
        write(writer, a_draft(org, "b", "green owl"))
        settle(writer)
        assert writer.close()
    assert sound(store, org)


def test_a_writer_that_ends_with_a_failed_group_says_so(store: EmbeddedStore, org: str) -> None:
    failing = FailingStore(store)
    with writing(failing) as writer:
        write(writer, a_draft(org, "a", "red fox"))
        failing.broken = {"write.counted", "write.committed"}
        writer.write([a_draft(org, "a", "blue whale")], Deadline(10))
        assert not writer.close()
    assert not sound(store, org)
    sweep(store, HASH)  # what the next start does
    assert sound(store, org)
