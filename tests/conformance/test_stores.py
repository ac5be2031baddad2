"""What every `Store` does, whichever engine stands behind it.

A new store joins by one line in `conformant`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from uuid import uuid4

import numpy as np
import pytest

from loom_server.errors import (
    Cancelled,
    DeadlineExceeded,
    LoomError,
    ResourceExhausted,
    StatementFailed,
)
from loom_server.model.deadline import Deadline
from loom_server.store.named import MOST_BYTES
from loom_server.store.store import Insert, Statement, Store

ENDLESS = "SELECT sum(cityHash64(number)) FROM numbers(1000000000000)"
AWKWARD = [
    "it's",
    'say "yes"',
    "tab\there",
    "line\nbreak",
    "back\\slash",
    "\\n",
    "\\'; DROP TABLE loom.memory; --",
    "{p:String}",
    "%s %(p)s",
    "`tick`",
    "",
    "\\N",
    "NULL",
    "nul\0inside",
    "Größe 尺寸 😀 é",
    "\u2028\u202e",
]
DIMENSION = 8


@pytest.fixture(params=["embedded", "server"])
def conformant(request: pytest.FixtureRequest) -> Store:
    """A migrated store of each kind."""
    fixtures = {"embedded": "store", "server": "server"}
    return request.getfixturevalue(fixtures[request.param])


@pytest.fixture
def name() -> str:
    """A statement's name that no other test uses."""
    return f"test.{uuid4().hex[:10]}"


def running(store: Store, name: str) -> int:
    """How many statements of this name the engine is busy with."""
    sql = "SELECT count() AS n FROM system.processes WHERE startsWith(Settings['log_comment'], {name:String})"
    return int(str(store.query(Statement("watch", sql, {"name": f"{name} "})).column("n")[0]))


def until(true: Callable[[], bool]) -> None:
    """Wait for what must come; the bound only keeps a broken store from hanging the tests."""
    end = time.monotonic() + 30.0
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def embeddings(org: str, rows: int) -> Insert:
    """Rows whose vectors and keys tell their number."""
    vectors = np.zeros((rows, DIMENSION), dtype=np.float32)
    vectors[:, 0] = np.arange(rows) % 128
    blank = [""] * rows
    return Insert(
        "memory_embeddings",
        ("org", "namespace", "model", "id", "agent", "user_id", "session_id", "run_id", "memory_key", "live", "vector"),
        (
            [org] * rows,
            ["n"] * rows,
            ["m"] * rows,
            range(1, rows + 1),
            blank,
            blank,
            blank,
            blank,
            [f"key {number}" for number in range(rows)],
            [1] * rows,
            vectors,
        ),
    )


def memory(org: str, *, value: str, moment: datetime, tags: list[str], summary: str | None) -> Insert:
    """One fact with text, arrays, NULLs and moments."""
    row: dict[str, object] = {
        "org": org,
        "namespace": "n",
        "memory_key": "k",
        "version": 4_000_000_000,
        "id": 1,
        "superseded_by": 2**64 - 1,  # not the id: a writer hands out ids above the highest one that it finds
        "status": "superseded",
        "value": value,
        "content": value,
        "content_sha256": "a" * 64,
        "memory_type": "fact",
        "summary": summary,
        "tags": tags,
        "confidence": 0.1 + 0.2,
        "created_at": moment,
        "valid_at": None,
        "expires_at": moment,
    }
    return Insert("memory", tuple(row), tuple([cell] for cell in row.values()))


@pytest.mark.parametrize("text", AWKWARD)
def test_a_text_parameter_arrives_as_it_is(conformant: Store, text: str) -> None:
    sql = "SELECT {p:String} AS p, length({p:String}) AS bytes, {list:Array(String)} AS list"
    columns = conformant.query(Statement("test.text", sql, {"p": text, "list": [text, "", text]}))
    assert columns.rows() == [(text, len(text.encode()), [text, "", text])]


def test_numbers_moments_and_null_arrive_as_they_are(conformant: Store) -> None:
    moment = datetime(2024, 5, 6, 7, 8, 9, 123000, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    sql = """
        SELECT {u:UInt64} AS u, {i:Int64} AS i, {f:Float64} AS f, {us:Array(UInt64)} AS us,
            {none:Nullable(String)} AS none, {at:DateTime64(3, 'UTC')} AS at
    """
    parameters: dict[str, object] = {
        "u": 2**64 - 1,
        "i": -(2**63),
        "f": 0.1 + 0.2,
        "us": [0, 2**64 - 1],
        "none": None,
        "at": moment,
    }
    row = conformant.query(Statement("test.values", sql, parameters)).rows()[0]
    assert row == (2**64 - 1, -(2**63), 0.1 + 0.2, [0, 2**64 - 1], None, moment)
    assert isinstance(row[5], datetime)
    assert row[5].utcoffset() == timedelta(0)


def test_a_result_comes_as_named_columns(conformant: Store) -> None:
    columns = conformant.query(Statement("test.columns", "SELECT number AS n, toFloat64(number) AS f FROM numbers(3)"))
    assert columns.names == ("n", "f")
    assert list(columns.column("n")) == [0, 1, 2]
    assert [type(value) for value in columns.column("f")] == [float] * 3
    assert len(columns) == 3


def test_an_empty_result_has_empty_columns(conformant: Store) -> None:
    columns = conformant.query(Statement("test.empty", "SELECT number AS n FROM numbers(0)"))
    assert (len(columns), list(columns.column("n")), columns.rows()) == (0, [], [])


@pytest.mark.parametrize("value", AWKWARD)
def test_a_row_is_read_as_it_was_inserted(conformant: Store, org: str, value: str) -> None:
    moment = datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC)
    conformant.insert(memory(org, value=value, moment=moment, tags=[value, "plain"], summary=None))
    sql = """
        SELECT
            value, tags, summary, created_at, valid_at, expires_at, superseded_by, version, status, confidence,
            content_sha256
        FROM loom.memory WHERE org = {org:String}
    """
    rows = conformant.query(Statement("test.read", sql, {"org": org})).rows()
    assert rows == [
        (
            value,
            [value, "plain"],
            None,
            moment,
            None,
            moment,
            2**64 - 1,
            4_000_000_000,
            "superseded",
            0.1 + 0.2,
            b"a" * 64,
        )
    ]


@pytest.mark.parametrize("rows", [1, 10_000])
def test_inserted_rows_are_all_there_at_once(conformant: Store, org: str, rows: int) -> None:
    conformant.insert(embeddings(org, rows))
    sql = """
        SELECT count() AS n, sum(id) AS ids, sum(vector[1]) AS firsts, uniqExact(memory_key) AS keys,
            max(length(vector)) AS width
        FROM loom.memory_embeddings WHERE org = {org:String}
    """
    expected = (rows, rows * (rows + 1) // 2, sum(number % 128 for number in range(rows)), rows, DIMENSION)
    assert conformant.query(Statement("test.count", sql, {"org": org})).rows() == [expected]


def test_no_rows_are_no_insert(conformant: Store, org: str) -> None:
    conformant.insert(embeddings(org, 0))
    sql = "SELECT count() AS n FROM loom.memory_embeddings WHERE org = {org:String}"
    assert conformant.query(Statement("test.count", sql, {"org": org})).rows() == [(0,)]


def test_a_value_of_another_type_names_its_column(conformant: Store, org: str) -> None:
    wrong = Insert("corpus_stats", ("org", "namespace", "plane", "docs"), ([org], ["n"], ["fact"], ["many"]))
    with pytest.raises(ValueError, match=r"corpus_stats\.docs takes Int64"):
        conformant.insert(wrong)


def test_a_command_changes_rows(conformant: Store, org: str) -> None:
    conformant.insert(embeddings(org, 3))
    sql = "UPDATE loom.memory_embeddings SET live = 0 WHERE org = {org:String} AND namespace = 'n' AND id = {id:UInt64}"
    conformant.command(Statement("test.retire", sql, {"org": org, "id": 2}))
    live = "SELECT id FROM loom.memory_embeddings WHERE org = {org:String} AND live ORDER BY id"
    assert list(conformant.query(Statement("test.live", live, {"org": org})).column("id")) == [1, 3]


def test_a_statement_may_bring_its_own_settings(conformant: Store) -> None:
    sql = "SELECT getSetting('max_threads') AS threads"
    assert conformant.query(Statement("test.threads", sql)).rows() == [(1,)]
    assert conformant.query(Statement("test.threads", sql, settings={"max_threads": 2})).rows() == [(2,)]
    assert conformant.query(Statement("test.threads", sql)).rows() == [(1,)]


def test_a_deadline_ends_a_long_statement(conformant: Store) -> None:
    with pytest.raises(DeadlineExceeded):
        conformant.query(Statement("test.long", ENDLESS), Deadline(0.2))


def test_a_deadline_that_is_over_runs_nothing(conformant: Store, name: str) -> None:
    with pytest.raises(DeadlineExceeded):
        conformant.query(Statement(name, "this is no SQL at all"), Deadline(0.0))


def test_a_statement_beyond_its_memory_is_refused(conformant: Store) -> None:
    hungry = Statement(
        "test.hungry",
        "SELECT groupArray(number) AS n FROM numbers(100000000)",
        settings={"max_memory_usage": 50_000_000},
    )
    with pytest.raises(ResourceExhausted):
        conformant.query(hungry)


def test_a_statement_beyond_its_rows_is_refused(conformant: Store) -> None:
    wide = Statement("test.wide", "SELECT sum(number) FROM numbers(1000)", settings={"max_rows_to_read": 10})
    with pytest.raises(ResourceExhausted):
        conformant.query(wide)


def test_cancelling_stops_the_statement_in_the_engine(conformant: Store, name: str) -> None:
    deadline = Deadline(300.0)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(conformant.query, Statement(name, ENDLESS), deadline)
        until(lambda: running(conformant, name) == 1)
        deadline.cancel()
        with pytest.raises(Cancelled):
            answer.result(timeout=30)
    assert running(conformant, name) == 0


def test_a_caller_that_has_gone_runs_nothing(conformant: Store, name: str) -> None:
    deadline = Deadline(300.0)
    deadline.cancel()
    with pytest.raises(Cancelled):
        conformant.query(Statement(name, ENDLESS), deadline)


def test_cancelling_at_any_moment_ends_the_statement(conformant: Store, name: str) -> None:
    def cancelled_after(seconds: float) -> type[BaseException] | None:
        deadline = Deadline(300.0)
        timer = threading.Timer(seconds, deadline.cancel)
        timer.start()
        try:
            conformant.query(Statement(name, ENDLESS), deadline)
        except LoomError as error:
            return type(error)
        finally:
            timer.join()
        return None

    assert {cancelled_after(step * 0.0005) for step in range(20)} == {Cancelled}
    assert running(conformant, name) == 0


def test_statements_run_side_by_side(conformant: Store, name: str) -> None:
    deadline = Deadline(300.0)
    with ThreadPoolExecutor(3) as pool:
        answers = [pool.submit(conformant.query, Statement(name, ENDLESS), deadline) for _ in range(3)]
        until(lambda: running(conformant, name) == 3)
        deadline.cancel()
        assert [type(answer.exception(timeout=30)) for answer in answers] == [Cancelled] * 3


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [
        ("SELECT secret_column FROM loom.memory WHERE org = {p:String}", {"p": "secret value"}),
        ("SELECT toUInt8({p:String})", {"p": "secret value"}),
        ("SELECT {p:UInt8}", {"p": "secret value"}),
        ("SELECT throwIf(1, 'secret value')", {}),
        ("SELECT secret FROM WHERE", {}),
    ],
)
def test_an_error_tells_the_statement_and_neither_sql_nor_values(
    conformant: Store, sql: str, parameters: dict[str, object]
) -> None:
    with pytest.raises(StatementFailed, match=r"test\.wrong \(code \d+") as caught:
        conformant.query(Statement("test.wrong", sql, parameters))
    assert "secret" not in caught.value.message
    assert "SELECT" not in caught.value.message


def test_a_store_serves_on_after_an_error(conformant: Store) -> None:
    for _ in range(20):
        with pytest.raises(StatementFailed):
            conformant.query(Statement("test.wrong", "SELECT nothing_of_this_name"))
    assert conformant.query(Statement("test.right", "SELECT 1 AS one")).rows() == [(1,)]


def test_many_threads_get_their_own_answers(conformant: Store) -> None:
    def echo(number: int) -> bool:
        columns = conformant.query(Statement("test.echo", "SELECT {n:UInt32} AS n", {"n": number}), Deadline(60.0))
        return list(columns.column("n")) == [number]

    with ThreadPoolExecutor(24) as pool:
        assert all(pool.map(echo, range(500)))


def test_parameters_as_long_as_a_statement_may_name_go_through(conformant: Store) -> None:
    words = ["it's " + "é" * 400] * 80
    assert MOST_BYTES < sum(len(word.encode()) for word in words) + 64 < 2 * MOST_BYTES
    statement = Statement(
        "test.long", "SELECT length({words:Array(String)}) AS n, {words:Array(String)} AS w", {"words": words}
    )
    assert conformant.query(statement).rows() == [(80, words)]
