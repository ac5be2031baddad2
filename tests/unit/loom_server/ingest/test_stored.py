"""What a writer reads back before it commits."""

from __future__ import annotations

from datetime import UTC, datetime

from loom_server.embed.choose import make_embedder
from loom_server.ingest.judge import traits
from loom_server.ingest.request import key_of
from loom_server.ingest.stored import committed, counted, embedded, newest, with_traits
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.named import Row
from loom_server.store.statistics import FACT, CommitDelta
from writing import HASH, NAMESPACE, a_draft, a_key, delete, write, writing


def test_the_newest_version_of_each_key(store: EmbeddedStore, org: str) -> None:
    with writing(store) as writer:
        write(writer, a_draft(org, "a"), a_draft(org, "b"))
        (second,) = write(writer, a_draft(org, "a", text="other"))
        (gone,) = delete(writer, a_key(org, "b"))
    found = newest(store, {a_key(org, "a"), a_key(org, "b"), a_key(org, "never")})
    assert found.keys() == {a_key(org, "a"), a_key(org, "b")}
    assert (found[a_key(org, "a")].id, found[a_key(org, "a")].version) == (second.row_id, 2)
    assert (found[a_key(org, "b")].id, found[a_key(org, "b")].status) == (gone.row_id, "tombstoned")


def test_keys_that_share_parts_with_those_asked_are_not_answered(store: EmbeddedStore, org: str) -> None:
    drafts = [a_draft(org, key, agent=agent) for key in ("x", "y") for agent in ("a", "b")]
    asked = {key_of(drafts[0]), key_of(drafts[3])}
    with writing(store) as writer:
        write(writer, *drafts)
    assert newest(store, asked).keys() == asked


def test_traits_come_back_as_they_were_written(store: EmbeddedStore, org: str) -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
    draft = a_draft(
        org,
        run_id="r",
        memory_type="episode",
        canonical="",
        summary="s",
        metadata='{"a":"b"}',
        tags=("t", "u"),
        category="c",
        entities=("e",),
        confidence=0.1,
        source_class="imported",
        source_trace="st",
        source_resource_id="sr",
        sensitivity="low",
        valid_at=moment,
        valid_to=moment,
    )
    with writing(store) as writer:
        write(writer, draft)
    (found,) = with_traits(store, newest(store, {key_of(draft)})).values()
    assert found.traits == traits(draft, "r", None)
    assert with_traits(store, {}) == {}


def test_what_rows_count(store: EmbeddedStore, org: str) -> None:
    with writing(store) as writer:
        write(writer, a_draft(org, "x", text="red red fox"))
        outcomes = write(writer, a_draft(org, "x", text="red hen"), a_draft(org, "y", text="red"))
    rows = [Row(org, NAMESPACE, outcome.row_id) for outcome in outcomes]
    assert counted(store, rows) == [
        CommitDelta(
            org,
            NAMESPACE,
            FACT,
            2,
            3,
            {"red": 2, "hen": 1, "k:x": 1, "k:y": 1},
            {"red": 2, "hen": 1, "k:x": 1, "k:y": 1},
        )
    ]


def test_contents_are_of_rows_with_a_vector_of_the_model(store: EmbeddedStore, org: str) -> None:
    static = make_embedder(Settings(embedder="static"))
    with writing(store) as writer:
        (kept, blank) = write(writer, a_draft(org, "x", text="red"), a_draft(org, "y", text=" "))
    ids = [(a_key(org, "x"), kept.row_id), (a_key(org, "y"), blank.row_id)]
    assert embedded(store, ids, HASH.identity.name) == [(org, NAMESPACE, "red")]
    assert embedded(store, ids, static.identity.name) == []


def test_which_ids_are_committed(store: EmbeddedStore, org: str) -> None:
    with writing(store) as writer:
        (outcome,) = write(writer, a_draft(org))
    assert committed(store, {a_key(org)}, [outcome.row_id, outcome.row_id + 1]) == {outcome.row_id}
