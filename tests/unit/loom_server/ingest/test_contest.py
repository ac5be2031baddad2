"""Writers of several processes over one store: versions follow one another, and a guard holds."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

import pytest

from loom_server.errors import Conflict, WriteContended
from loom_server.ingest.content import sha256_of
from loom_server.ingest.memory import MemoryWriter
from loom_server.model.clock import SystemClock
from loom_server.model.deadline import Deadline
from loom_server.model.memory import WriteOutcome
from loom_server.settings import Settings
from loom_server.store.claims import Claim
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.namespaces import Namespaces, Preferences
from loom_server.store.process import Process
from loom_server.store.server import ServerStore
from loom_server.store.statistics import Statistics
from loom_server.store.store import Store
from writing import HASH, NAMESPACE, PATIENCE_S, FailingStore, a_draft, a_key, settle, sound, versions, write


@contextmanager
def neighbour(store: Store) -> Iterator[MemoryWriter]:
    """A writer of a process of its own."""
    clock = SystemClock()
    process = Process.join(store, clock, 30.0)
    writer = MemoryWriter(store, HASH, Statistics(store), clock, Settings(), Namespaces(store, process))
    try:
        yield writer
    finally:
        writer.close()
        process.close()


def test_versions_of_a_key_that_all_write_follow_one_another(store: EmbeddedStore, org: str) -> None:
    with ExitStack() as stack, ThreadPoolExecutor(3) as threads:
        writers = [stack.enter_context(neighbour(store)) for _ in range(3)]

        def run(number: int) -> list[int]:
            drafts = [a_draft(org, text=f"fox {number} {turn}") for turn in range(6)]
            answers = [writers[number].write([draft], Deadline(PATIENCE_S))[0] for draft in drafts]
            return [answer.version for answer in answers if isinstance(answer, WriteOutcome)]

        written = [version for one in threads.map(run, range(3)) for version in one]
        for writer in writers:
            settle(writer)
    stored = versions(store, org, "version, toString(status)")
    assert sorted(written) == [version for version, _ in stored] == list(range(1, len(written) + 1))
    assert [status for _, status in stored] == ["superseded"] * (len(written) - 1) + ["live"]
    assert sound(store, org)


def test_of_those_who_replace_the_same_value_one_does(store: EmbeddedStore, org: str) -> None:
    with ExitStack() as stack, ThreadPoolExecutor(3) as threads:
        writers = [stack.enter_context(neighbour(store)) for _ in range(3)]
        write(writers[0], a_draft(org))
        held, start = sha256_of(a_draft(org).value), threading.Barrier(3)

        def run(number: int) -> object:
            draft = a_draft(org, text=f"mine {number}", if_match_sha256=held)
            start.wait(30)
            return writers[number].write([draft], Deadline(PATIENCE_S))[0]

        answers = list(threads.map(run, range(3)))
    assert sum(isinstance(answer, WriteOutcome) for answer in answers) == 1
    assert sum(isinstance(answer, Conflict) for answer in answers) == 2
    assert len(versions(store, org)) == 2


def test_whoever_keeps_a_key_refuses_others_and_holds_up_no_other_key(store: EmbeddedStore, org: str) -> None:
    holder = Process.join(store, SystemClock(), 30.0)
    assert holder.claims is not None
    holder.claims.take({Claim(a_key(org, "a"), 1)}, time.monotonic())
    with neighbour(store) as writer:
        contended, free = writer.write([a_draft(org, "a"), a_draft(org, "b")], Deadline(PATIENCE_S))
        assert isinstance(contended, WriteContended)
        assert "'a'" in contended.message
        assert isinstance(free, WriteOutcome)
        settle(writer)
    holder.close()
    assert versions(store, org, "memory_key") == [("b",)]
    assert sound(store, org)


@pytest.mark.parametrize("broken", ["insert.postings", "insert.memory"])
def test_a_write_that_failed_leaves_the_key_to_others(store: EmbeddedStore, org: str, broken: str) -> None:
    failing = FailingStore(store)
    with neighbour(failing) as one, neighbour(store) as other:
        failing.broken = {broken}
        (failed,) = one.write([a_draft(org)], Deadline(PATIENCE_S))
        assert not isinstance(failed, WriteOutcome)
        failing.broken = set()
        settle(one)
        (outcome,) = write(other, a_draft(org, text="blue"))
        settle(other)
    assert (outcome.version, versions(store, org)) == (1, [("k", 1, "live")])
    assert sound(store, org)


def test_two_processes_fix_one_model(store: EmbeddedStore, org: str) -> None:
    processes = [Process.join(store, SystemClock(), 30.0) for _ in range(4)]
    tables = [Namespaces(store, process) for process in processes]
    start = threading.Barrier(4)

    def run(number: int) -> str:
        start.wait(30)
        return tables[number].fix_model(org, f"model {number}")

    with ThreadPoolExecutor(4) as threads:
        fixed = set(threads.map(run, range(4)))
    for process in processes:
        process.close()
    assert fixed == {Namespaces(store).model_of(org)}


def _with(added: Preferences, before: Preferences) -> Preferences:
    return {**before, **added}


def test_two_processes_lose_no_setting_of_a_namespace(store: EmbeddedStore, org: str) -> None:
    processes = [Process.join(store, SystemClock(), 30.0) for _ in range(3)]
    tables = [Namespaces(store, process) for process in processes]

    def run(number: int) -> None:
        for turn in range(3):
            added: Preferences = {f"{number}.{turn}": 1}
            tables[number].change(org, NAMESPACE, partial(_with, added))

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(run, range(3)))
    for process in processes:
        process.close()
    assert len(Namespaces(store).preferences(org, NAMESPACE)) == 9


def test_long_keys_of_a_large_group_are_written_on_a_server(server: ServerStore, org: str) -> None:
    drafts = [a_draft(org, f"{number:03}" + "é" * 250, agent="a'" * 30) for number in range(240)]
    with neighbour(server) as writer:
        assert [outcome.version for outcome in write(writer, *drafts)] == [1] * 240
        again = [replace(draft, value='"b"', content="b") for draft in drafts]
        assert [outcome.version for outcome in write(writer, *again)] == [2] * 240
        settle(writer)
    assert sound(server, org)
