"""The order of a group's statements: what makes a crash visible afterwards."""

from __future__ import annotations

from loom_server.ingest.memory import MemoryWriter
from loom_server.model.clock import SystemClock
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.statistics import Statistics
from writing import HASH, FailingStore, a_draft, a_key, delete, settle, write, writing


def test_indexes_then_memory_then_the_end_of_the_old_versions(store: EmbeddedStore, org: str) -> None:
    failing = FailingStore(store)
    with writing(failing, statistics=Statistics(failing)) as writer:
        write(writer, a_draft(org))
        settle(writer)
        failing.asked.clear()
        write(writer, a_draft(org, text="a blue hen"))
        settle(writer)
        asked = list(failing.asked)
        assert asked[0] == "write.newest"
        assert set(asked[1:5]) == {"insert.postings", "insert.memory_embeddings", "write.embedded", "write.counted"}
        assert asked[5:7] == ["insert.memory", "versions.supersede"]
        owed = [name for name in asked[7:] if name not in asked[:7]]
        assert set(owed[:2]) == {"versions.lower_vectors", "versions.lower_postings"}
        assert set(owed[2:]) == {"insert.token_df", "insert.corpus_stats"}


def test_a_tombstone_writes_no_index_rows(store: EmbeddedStore, org: str) -> None:
    failing = FailingStore(store)
    with writing(failing) as writer:
        write(writer, a_draft(org))
        settle(writer)
        failing.asked.clear()
        delete(writer, a_key(org))
        before = failing.asked[: failing.asked.index("versions.supersede")]
    assert before[0] == "write.newest"
    assert before[-1] == "insert.memory"


def test_who_keeps_rows_is_told_what_ended_before_the_writer_is_answered(store: EmbeddedStore, org: str) -> None:
    told: list[int] = []
    writer = MemoryWriter(store, HASH, Statistics(store), SystemClock(), Settings(), ended=told.extend)
    first, other = write(writer, a_draft(org), a_draft(org, "other"))
    assert told == []
    write(writer, a_draft(org, text="blue"))
    assert told == [first.row_id]
    delete(writer, a_key(org, "other"))
    assert told == [first.row_id, other.row_id]
    writer.close()
