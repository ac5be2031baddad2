"""What the embedded store adds to the conformance of every store: its life, its bounds, its observers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from loom_server.errors import StatementFailed, StoreLocked, StoreUnavailable
from loom_server.model.deadline import Deadline
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.store import Insert, Statement
from store_process import StoreProcess

ONE = Statement("test.one", "SELECT 1 AS one")
SHOW = "SELECT Settings['{}'] AS value FROM system.processes WHERE startsWith(Settings['log_comment'], 'test.show ')"

CLOSING = """
import sys, threading, time
from pathlib import Path
from loom_server.errors import StoreUnavailable
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.store import Statement

store = EmbeddedStore(Path(sys.argv[1]), clients=2)
busy = Statement("busy", "SELECT count() FROM system.processes WHERE startsWith(Settings['log_comment'], 'slow ')")

def slow():
    store.query(Statement("slow", "SELECT sleep(1)"))
    print("answered", flush=True)

thread = threading.Thread(target=slow)
thread.start()
while store.query(busy).data[0][0] == 0:
    time.sleep(0.01)
print("running", flush=True)
store.close()
store.close()
thread.join()
try:
    store.query(busy)
except StoreUnavailable as error:
    print(error.code, flush=True)
again = EmbeddedStore(Path(sys.argv[1]), clients=2)
assert again.was_clean
print("again", flush=True)
again.close()
"""


def shown(store: EmbeddedStore, setting: str, deadline: Deadline | None = None) -> str:
    """A setting as the engine lists it for the very statement that asks."""
    return str(store.query(Statement("test.show", SHOW.format(setting)), deadline).column("value")[0])


def test_every_statement_carries_its_name_and_its_bounds(store: EmbeddedStore) -> None:
    first, second = shown(store, "log_comment"), shown(store, "log_comment")
    assert first.startswith("test.show ")
    assert first != second
    assert shown(store, "max_execution_time") == "30"
    assert shown(store, "max_memory_usage") == "4000000000"


def test_what_is_left_of_the_deadline_bounds_the_statement(store: EmbeddedStore) -> None:
    assert 0.0 < float(shown(store, "max_execution_time", Deadline(7.0))) <= 7.0
    assert float(shown(store, "max_execution_time", Deadline(3600.0))) == 30.0


def test_a_name_cannot_break_out_of_the_comment(store: EmbeddedStore) -> None:
    hostile = "a' OR 1, max_threads = '3"
    columns = store.query(Statement(hostile, "SELECT getSetting('log_comment') AS comment, getSetting('max_threads')"))
    comment, threads = columns.rows()[0]
    assert str(comment).startswith("a__OR_1__max_threads____3 ")
    assert threads == 1


def test_observers_hear_of_every_statement_until_they_stop(store: EmbeddedStore, org: str) -> None:
    heard: list[tuple[str, int, str]] = []
    stop = store.observe(lambda name, seconds, rows, outcome: heard.append((name, rows, outcome)))
    name = f"test.{uuid4().hex}"
    store.query(Statement(name, "SELECT number FROM numbers(3)"))
    with pytest.raises(StatementFailed):
        store.query(Statement(name, "SELECT nothing_of_this_name"))
    store.insert(Insert("corpus_stats", ("org", "namespace", "plane", "docs"), ([org], ["n"], ["fact"], [1])))
    store.command(Statement(name, "UPDATE loom.postings SET live = 0 WHERE org = {org:String}", {"org": org}))
    stop()
    store.query(Statement(name, "SELECT 1"))
    assert [event for event in heard if not event[0].startswith("store.")] == [
        (name, 3, "ok"),
        (name, 0, "failed"),
        ("insert.corpus_stats", 1, "ok"),
        (name, 0, "ok"),
    ]


@pytest.mark.parametrize(("seconds", "cancel", "outcome"), [(0.0, False, "deadline"), (9.0, True, "cancelled")])
def test_observers_hear_why_a_statement_did_not_run(
    store: EmbeddedStore, seconds: float, cancel: bool, outcome: str
) -> None:
    heard: list[str] = []
    name = f"test.{uuid4().hex}"
    stop = store.observe(lambda told, seconds, rows, outcome: heard.append(outcome) if told == name else None)
    deadline = Deadline(seconds)
    if cancel:
        deadline.cancel()
    with pytest.raises(Exception, match=r"."):
        store.query(Statement(name, "SELECT 1"), deadline)
    stop()
    assert heard == [outcome]


def test_a_table_that_is_not_there_asks_for_the_migrations(store: EmbeddedStore) -> None:
    with pytest.raises(StoreUnavailable, match="loom migrate"):
        store.insert(Insert("no_such_table", ("a",), ([1],)))


def test_a_column_added_later_is_known_to_the_next_insert(store: EmbeddedStore) -> None:
    table = f"later_{uuid4().hex}"
    store.command(Statement("test.ddl", f"CREATE TABLE loom.{table} (a UInt8) ENGINE = MergeTree ORDER BY a"))
    store.insert(Insert(table, ("a",), ([1],)))
    store.command(Statement("test.ddl", f"ALTER TABLE loom.{table} ADD COLUMN b String"))
    store.insert(Insert(table, ("a", "b"), ([2], ["two"])))
    rows = store.query(Statement("test.read", f"SELECT a, b FROM loom.{table} ORDER BY a")).rows()
    store.command(Statement("test.ddl", f"DROP TABLE loom.{table}"))
    assert rows == [(1, ""), (2, "two")]


def test_commands_take_settings_of_their_own(store: EmbeddedStore) -> None:
    wrong = Statement(
        "test.update", "UPDATE loom.postings SET live = 0 WHERE org = ''", settings={"no_such_setting": 1}
    )
    with pytest.raises(StatementFailed, match="UNKNOWN_SETTING"):
        store.command(wrong)


def test_the_directory_is_taken_while_the_store_is_open(store: EmbeddedStore, tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="already has a store open on another directory"):
        EmbeddedStore(tmp_path / "other")
    with pytest.raises(StoreUnavailable, match="another directory"):
        EmbeddedStore.open(Settings(data_dir=tmp_path / "other"))


def test_a_refused_opening_leaves_the_directory_free(store: EmbeddedStore, tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(StoreUnavailable) as caught:
            EmbeddedStore(tmp_path)
        assert not isinstance(caught.value, StoreLocked)


def test_a_second_directory_in_one_process_is_refused_and_the_first_serves_on(tmp_path: Path) -> None:
    with StoreProcess(tmp_path / "one") as process:
        refusal = process.tell(f"other {tmp_path / 'two'}")
        assert refusal["refused"] == "store_unavailable"
        assert "allows one" in refusal["message"]
        assert process.tell("fill 2") == {"rows": 2}


def test_a_failed_write_puts_the_close_in_doubt(tmp_path: Path) -> None:
    with StoreProcess(tmp_path) as process:
        assert process.tell("break") == {"broken": "statement_failed"}
        process.close()
    with StoreProcess(tmp_path) as process:
        assert process.opened == {"open": False}


def test_an_engine_that_another_program_holds_is_refused(tmp_path: Path) -> None:
    with StoreProcess(tmp_path / "a") as _:
        (tmp_path / "b").mkdir()
        (tmp_path / "b" / "engine").symlink_to(tmp_path / "a" / "engine")
        with StoreProcess(tmp_path / "b") as second:
            assert second.opened["refused"] == "store_unavailable"
            assert "another program may hold it" in second.opened["message"]


def test_closing_waits_for_what_runs_and_refuses_what_comes(tmp_path: Path) -> None:
    script = tmp_path / "closing.py"
    script.write_text(CLOSING)
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "data")], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.split() == ["running", "answered", "store_unavailable", "again"], done.stderr
