"""The check finds what a sweep mends and changes nothing itself."""

from __future__ import annotations

from dataclasses import replace

from loom_server.keep.integrity import Drift, Report, check
from loom_server.keep.sweep import sweep
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.statistics import FACT, CommitDelta, roll_ups
from writing import HASH, NAMESPACE, a_draft, change, roll_ups_of, write, writing


def test_finished_writes_add_no_finding(store: EmbeddedStore, org: str) -> None:
    sweep(store, HASH)
    before = check(store, HASH)
    with writing(store) as writer:
        write(writer, a_draft(org), a_draft(org, namespace="other"))
        write(writer, a_draft(org, text="new"))
    after = check(store, HASH)
    assert replace(after, namespaces=before.namespaces) == before
    assert after.namespaces == before.namespaces + 2


def test_every_finding_is_counted_and_told(store: EmbeddedStore, org: str) -> None:
    with writing(store) as writer:
        first, other, lost = write(writer, a_draft(org, "a"), a_draft(org, "b"), a_draft(org, "c"))
        write(writer, a_draft(org, "a", text="new"))
    sweep(store, HASH)
    before = check(store, HASH)
    for sql, row_id in (
        ("UPDATE loom.memory SET status = 'live'", first.row_id),
        ("UPDATE loom.postings SET live = 1", first.row_id),
        ("DELETE FROM loom.memory", other.row_id),
        ("DELETE FROM loom.postings", lost.row_id),
    ):
        change(store, sql, org, row_id)
    for insert in roll_ups([CommitDelta(org, NAMESPACE, FACT, 5, 9, {"ghost": 1}, {"ghost": 1})]):
        store.insert(insert)
    counts = roll_ups_of(store, org)
    report = check(store, HASH)
    assert (report.orphans, report.raised, report.stale) == (1, 0, 1)
    assert report.missing == before.missing + 1
    assert [drift.plane for drift in report.drifts if drift.org == org] == [FACT, "embed"]
    assert not report.sound
    assert roll_ups_of(store, org) == counts


def test_sentences_name_what_is_off_and_the_mend() -> None:
    drift = Drift("acme", "notes", FACT, 2, -3, 4)
    report = Report(1, 1, 2, 3, 4, (drift,))
    assert not report.sound
    assert Report(1, 0, 0, 0, 0, ()).sound
    assert [sentence.split()[0] for sentence in report.sentences] == ["1", "2", "3", "4", "In"]
    assert "acme/notes" in drift.sentence
    assert "2 rows" in drift.sentence
