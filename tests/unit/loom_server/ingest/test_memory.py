"""Writes through the whole path, against what then stands in the tables."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from loom_server.embed.base import Vectors
from loom_server.embed.hashed import HashedEmbedder
from loom_server.errors import Cancelled, Conflict, DeadlineExceeded, InvalidInput, NotFound, NotReady, StoreUnavailable
from loom_server.ingest.content import sha256_of
from loom_server.ingest.memory import MemoryWriter
from loom_server.ingest.request import key_of
from loom_server.model.deadline import Deadline
from loom_server.model.memory import WriteOutcome
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.namespaces import Namespaces
from loom_server.store.statistics import Statistics
from statements import counted
from writing import (
    HASH,
    NAMESPACE,
    PATIENCE_S,
    FailingStore,
    SetClock,
    a_draft,
    a_key,
    delete,
    live_ids,
    roll_ups_of,
    settle,
    sound,
    table,
    versions,
    write,
    writing,
)

INDEXES = ("memory_embeddings", "postings")


def counts(store: EmbeddedStore, org: str) -> dict[str, int]:
    """Document frequencies of the org's index tokens that are words."""
    tokens, _ = roll_ups_of(store, org)
    return {token: df for _, plane, token, df, _ in tokens if plane == "fact" and ":" not in token}


def test_a_new_memory_is_in_every_table(store: EmbeddedStore, org: str) -> None:
    clock = SetClock()
    draft = a_draft(org, "colour", "red red fox", tags=("t",), confidence=0.5, ttl_seconds=60, agent="a")
    with writing(store, clock=clock) as writer:
        (outcome,) = write(writer, draft)
    assert outcome == WriteOutcome(1, outcome.row_id, sha256_of('"red red fox"'), "live")
    columns = (
        "id, agent, memory_key, version, toString(status), value, content, tags, confidence, created_at, expires_at"
    )
    moment = clock.now().replace(microsecond=0)
    assert versions(store, org, columns) == [
        (outcome.row_id, "a", "colour", 1, "live", '"red red fox"', "red red fox", ["t"], 0.5, moment,
         moment + timedelta(seconds=60))
    ]  # fmt: skip
    assert table(store, "memory_embeddings", org, "id, model, agent, memory_key, live, length(vector)") == [
        (outcome.row_id, HASH.identity.name, "a", "colour", 1, HASH.identity.dimension)
    ]
    postings = table(store, "postings", org, "token, id, tf, dl, live")
    assert ("red", outcome.row_id, 2, 3, 1) in postings
    assert ("", outcome.row_id, 1, 3, 1) in postings
    assert counts(store, org) == {"red": 1, "fox": 1}
    assert roll_ups_of(store, org)[1] == [(NAMESPACE, "embed", 1, 0), (NAMESPACE, "fact", 1, 3)]


def test_a_new_value_supersedes_and_the_old_one_stays_in_history(store: EmbeddedStore, org: str) -> None:
    with writing(store) as writer:
        (first,) = write(writer, a_draft(org, text="red fox"))
        (second,) = write(writer, a_draft(org, text="blue hen"))
    assert versions(store, org, "version, toString(status), superseded_by, superseded_at IS NOT NULL") == [
        (1, "superseded", second.row_id, True),
        (2, "live", 0, False),
    ]
    assert first.row_id < second.row_id
    assert [live_ids(store, org, index) for index in INDEXES] == [{second.row_id}] * 2
    assert counts(store, org) == {"blue": 1, "hen": 1}
    assert table(store, "postings", org, "uniq(id)") == [(2,)]


def test_a_superseded_version_is_marked_when_its_writer_is_answered_and_its_flags_soon_after(
    store: EmbeddedStore, org: str
) -> None:
    statistics = Statistics(store)
    with writing(store, statistics=statistics) as writer:
        write(writer, a_draft(org, text="red fox"))
        (second,) = write(writer, a_draft(org, text="red hen"))
        assert [row[2] for row in versions(store, org)] == ["superseded", "live"]
        seen = statistics.namespace(org, NAMESPACE)
        assert (seen.documents, seen.document_frequencies(["red", "fox", "hen"])) == (1, {"red": 1, "fox": 0, "hen": 1})
        settle(writer)
        assert [live_ids(store, org, index) for index in INDEXES] == [{second.row_id}] * 2


def test_the_same_value_writes_nothing(store: EmbeddedStore, org: str) -> None:
    draft = a_draft(org, tags=("t",), valid_at=datetime(2026, 1, 1, tzinfo=UTC), summary="s", entities=("e",))
    with writing(store) as writer:
        (first,) = write(writer, draft)
        settle(writer)
        with counted(store) as statements:
            (again,) = write(writer, draft)
        assert set(statements) == {"write.newest", "write.traits"}
        (retagged,) = write(writer, a_draft(org, tags=("u",)))
    assert again == WriteOutcome(1, first.row_id, first.content_sha256, "live", noop=True)
    assert (retagged.version, retagged.noop) == (2, False)


def test_if_match_refuses_the_loser(store: EmbeddedStore, org: str) -> None:
    with writing(store) as writer:
        (stored,) = write(writer, a_draft(org, text="red"))
        sha = stored.content_sha256
        drafts = [a_draft(org, text=text, if_match_sha256=sha) for text in ("green", "blue")]
        answers = writer.write([*drafts, a_draft(org, "other", if_match_sha256=sha)], Deadline(PATIENCE_S))
    assert [type(answer) for answer in answers] == [WriteOutcome, Conflict, Conflict]
    assert [row[1:] for row in versions(store, org)] == [(1, "superseded"), (2, "live")]


def test_writers_of_one_key_all_stay_in_history(store: EmbeddedStore, org: str) -> None:
    with writing(store) as writer, ThreadPoolExecutor(8) as threads:
        drafts = [a_draft(org, text=f"value {number}") for number in range(24)]
        outcomes = [outcome for (outcome,) in threads.map(lambda draft: write(writer, draft), drafts)]
    found = versions(store, org, "version, toString(status), id, superseded_by")
    assert [row[:2] for row in found] == [(n, "superseded") for n in range(1, 24)] + [(24, "live")]
    assert [row[3] for row in found] == [row[2] for row in found[1:]] + [0]
    assert sorted(outcome.version for outcome in outcomes) == list(range(1, 25))
    assert [live_ids(store, org, index) for index in INDEXES] == [{found[-1][2]}] * 2


def test_a_tombstone_ends_a_key_and_a_set_after_it_goes_on(store: EmbeddedStore, org: str) -> None:
    with writing(store) as writer:
        write(writer, a_draft(org, text="red"), a_draft(org, "other", text="hen"))
        (gone,) = delete(writer, a_key(org))
        assert (gone.version, gone.status) == (2, "tombstoned")
        settle(writer)
        assert counts(store, org) == {"hen": 1}
        answers = writer.delete([a_key(org), a_key(org, "never")], Deadline(PATIENCE_S))
        assert [type(answer) for answer in answers] == [NotFound, NotFound]
        (back,) = write(writer, a_draft(org, text="red"))
    assert (back.version, back.noop) == (3, False)
    assert [row[1:] for row in versions(store, org)][:3] == [(1, "superseded"), (2, "tombstoned"), (3, "live")]
    assert counts(store, org) == {"hen": 1, "red": 1}


def test_tenants_in_one_group_stay_apart(store: EmbeddedStore, org: str) -> None:
    other = f"{org}-b"
    with writing(store) as writer:
        write(writer, *(a_draft(one, text="red", namespace=name) for one in (org, other) for name in ("x", "y")))
        with counted(store) as statements:
            write(
                writer,
                a_draft(org, text="blue", namespace="x"),
                a_draft(other, text="green", namespace="y"),
                a_draft(org, "fresh", text="red", namespace="y"),
            )
            settle(writer)
    assert {name: number for name, number in statements.items() if name != "write.newest"} == dict.fromkeys(
        (
            "insert.memory", "insert.memory_embeddings", "insert.postings", "insert.token_df", "insert.corpus_stats",
            "write.counted", "write.embedded", "versions.supersede", "versions.lower_vectors",
            "versions.lower_postings",
        ),
        1,
    )  # fmt: skip
    found = [(row[0], row[2], row[3]) for row in roll_ups_of(store, org)[0] if row[1] == "fact" and ":" not in row[2]]
    assert found == [("x", "blue", 1), ("y", "red", 2)]
    found = [(row[0], row[2], row[3]) for row in roll_ups_of(store, other)[0] if row[1] == "fact" and ":" not in row[2]]
    assert found == [("x", "red", 1), ("y", "green", 1)]


def test_a_dry_run_leaves_no_trace(store: EmbeddedStore, org: str) -> None:
    with writing(store) as writer:
        (outcome,) = write(writer, a_draft(org, dry_run=True))
    assert (outcome.version, outcome.row_id) == (1, 0)
    assert (versions(store, org), Namespaces(store).model_of(org)) == ([], None)


def test_the_first_vector_fixes_the_model_and_another_one_stays_out(store: EmbeddedStore, org: str) -> None:
    small = HashedEmbedder(dimension=64)
    with writing(store) as writer:
        write(writer, a_draft(org, "a"))
    assert Namespaces(store).model_of(org) == HASH.identity.name
    with writing(store, small) as writer:
        (outcome,) = write(writer, a_draft(org, "b"))
        (undone,) = write(writer, a_draft(org, "a", text="other"))
    assert (outcome.degraded, undone.degraded) == (("embed: model_mismatch",),) * 2
    assert table(store, "memory_embeddings", org, "memory_key, model, live") == [("a", HASH.identity.name, 0)]
    assert live_ids(store, org, "postings") == {outcome.row_id, undone.row_id}


def test_a_process_that_lost_the_race_for_the_model_drops_its_vectors(store: EmbeddedStore, org: str) -> None:
    small = HashedEmbedder(dimension=64)
    behind = Namespaces(store)
    assert behind.model_of(org) is None
    with writing(store) as writer:
        write(writer, a_draft(org, "a"))

    class Late(Namespaces):
        """Looked before the other had written."""

        def model_of(self, org: str, deadline: Deadline | None = None) -> str | None:
            return None

        def fix_model(self, org: str, model: str) -> str:
            return Namespaces(store).fix_model(org, model)

    writer = MemoryWriter(store, small, Statistics(store), SetClock(), Settings(), Late(store))
    (outcome,) = write(writer, a_draft(org, "b"))
    writer.close()
    assert outcome.degraded == ("embed: model_mismatch",)
    assert table(store, "memory_embeddings", org, "memory_key") == [("a",)]


def test_a_large_batch_goes_in_parts_and_is_answered_in_order(store: EmbeddedStore, org: str) -> None:
    drafts = [a_draft(org, f"k{number:03}", text=f"value {number}") for number in range(40)]
    with writing(store, write_batch_rows=7) as writer:
        outcomes = write(writer, *drafts)
        gone = delete(writer, *(key_of(draft) for draft in drafts))
    assert [outcome.content_sha256 for outcome in outcomes] == [sha256_of(draft.value) for draft in drafts]
    assert [outcome.version for outcome in gone] == [2] * 40
    assert roll_ups_of(store, org) == ([], [])


def test_an_unknown_language_is_refused_before_anything_is_written(store: EmbeddedStore, org: str) -> None:
    with writing(store) as writer, pytest.raises(InvalidInput, match="language"):
        writer.write([a_draft(org)], Deadline(PATIENCE_S), "tlh")
    assert versions(store, org) == []


def test_a_deadline_that_is_over_writes_nothing(store: EmbeddedStore, org: str) -> None:
    gone = Deadline(PATIENCE_S)
    gone.cancel()
    with writing(store) as writer:
        assert [type(answer) for answer in writer.write([a_draft(org)], Deadline(0.0))] == [DeadlineExceeded]
        assert [type(answer) for answer in writer.delete([a_key(org)], gone)] == [Cancelled]
    assert versions(store, org) == []
    assert [type(answer) for answer in writer.write([a_draft(org)], Deadline(PATIENCE_S))] == [NotReady]


def test_nothing_is_analysed_for_a_caller_whose_time_is_over(store: EmbeddedStore, org: str) -> None:
    class Counting(HashedEmbedder):
        texts = 0

        def passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> Vectors:
            self.texts += len(texts)
            return super().passages(texts)

    embedder = Counting()
    with writing(store, embedder, write_batch_rows=2) as writer:
        answers = writer.write([a_draft(org, f"k{n}") for n in range(5)], Deadline(0.0))
    assert [type(answer) for answer in answers] == [DeadlineExceeded] * 5
    assert embedder.texts == 0


def test_every_field_of_a_key_counts(store: EmbeddedStore, org: str) -> None:
    parts = {"agent": "a", "user_id": "u", "session_id": "s", "namespace": "other"}
    drafts = [a_draft(org), *(a_draft(org, **{name: value}) for name, value in parts.items())]
    with writing(store) as writer:
        assert [outcome.version for outcome in write(writer, *drafts)] == [1] * 5
        assert [outcome.noop for outcome in write(writer, *drafts)] == [True] * 5


AWKWARD = [
    "it's",
    "tab\there",
    "line\nbreak",
    "back\\slash",
    'quo"te',
    "{brace}",
    "(1,2)",
    "\\N",
    "π 😀",
    "%s",
    "a" * 500,
]


def test_awkward_keys_are_told_apart(store: EmbeddedStore, org: str) -> None:
    with writing(store) as writer:
        write(writer, *(a_draft(org, key, text="red") for key in AWKWARD))
        assert [outcome.version for outcome in write(writer, *(a_draft(org, key, text="hen") for key in AWKWARD))] == [
            2
        ] * len(AWKWARD)
        delete(writer, *(a_key(org, key) for key in AWKWARD[:3]))
    assert counts(store, org) == {"hen": len(AWKWARD) - 3}
    assert len(live_ids(store, org, "postings")) == len(AWKWARD) - 3


BEFORE_COMMIT = ("insert.postings", "insert.memory_embeddings", "write.counted", "write.embedded", "insert.memory")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("broken", [*BEFORE_COMMIT, "versions.supersede"])
def test_a_failure_leaves_nothing_half_done_and_the_next_write_goes_on(
    store: EmbeddedStore, org: str, broken: str, after: bool
) -> None:
    failing = FailingStore(store, after=after)
    statistics = Statistics(failing)
    with writing(failing, statistics=statistics) as writer:
        write(writer, a_draft(org, text="red fox"), a_draft(org, "gone", text="old hen"))
        failing.broken = {broken}
        answers = writer.write([a_draft(org, text="blue fox"), a_draft(org, "new")], Deadline(PATIENCE_S))
        assert [type(answer) for answer in answers] == [StoreUnavailable] * 2
        failing.broken = set()
        committed = broken == "versions.supersede" or (broken == "insert.memory" and after)
        if broken == "versions.supersede":
            settle(writer)
        assert sound(store, org)
        assert [row[1:] for row in versions(store, org) if row[0] == "k"] == (
            [(1, "superseded"), (2, "live")] if committed else [(1, "live")]
        )
        assert ("new" in {row[0] for row in versions(store, org)}) == committed
        (outcome,) = write(writer, a_draft(org, text="green fox"))
        assert outcome.version == (3 if committed else 2)
        delete(writer, a_key(org, "gone"))
        settle(writer)
        assert sound(store, org)
        assert statistics.namespace(org, NAMESPACE).documents == len(live_ids(store, org, "postings"))


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "broken", ["insert.token_df", "insert.corpus_stats", "versions.lower_vectors", "versions.lower_postings"]
)
def test_a_debt_that_cannot_be_paid_is_paid_later(store: EmbeddedStore, org: str, broken: str, after: bool) -> None:
    failing = FailingStore(store, after=after)
    statistics = Statistics(failing)
    with writing(failing, statistics=statistics) as writer:
        write(writer, a_draft(org, text="red fox"))
        settle(writer)
        failing.broken = {broken}
        write(writer, a_draft(org, text="blue fox"))
        with pytest.raises(StoreUnavailable):
            settle(writer)
        write(writer, a_draft(org, "other", text="hen"))
        failing.broken = set()
        settle(writer)
        assert sound(store, org)
        seen = statistics.namespace(org, NAMESPACE)
        assert (seen.documents, seen.document_frequencies(["red", "blue", "hen"])) == (
            2,
            {"red": 0, "blue": 1, "hen": 1},
        )


def test_a_store_that_stays_broken_leaves_work_for_the_next_start(store: EmbeddedStore, org: str) -> None:
    failing = FailingStore(store)
    with writing(failing) as writer:
        failing.broken = {"insert.memory", "write.committed"}
        answers = writer.write([a_draft(org)], Deadline(PATIENCE_S))
        assert [type(answer) for answer in answers] == [StoreUnavailable]
        failing.broken = set()
        settle(writer)
    assert sound(store, org)
    assert table(store, "postings", org, "id") == []
