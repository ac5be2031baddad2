"""Judging is pure: versions, what they end, and one answer a request."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest

from loom_server.errors import Conflict, NotFound
from loom_server.ingest.content import sha256_of
from loom_server.ingest.judge import Judgement, Retired, Stored, judge, to_millisecond, traits
from loom_server.ingest.request import Removal, Request, Write, key_of
from loom_server.model.memory import Draft, Key, WriteOutcome
from writing import a_draft, a_key

NOW = datetime(2026, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)
ORG = "acme"


def a_write(draft: Draft) -> Write:
    return Write(draft, key_of(draft), sha256_of(draft.value), {"fox": 1}, 1)


def stored_as(draft: Draft, *, row_id: int = 7, version: int = 1) -> dict[Key, Stored]:
    found = traits(draft, draft.identity.run_id, None)
    return {key_of(draft): Stored(row_id, version, "live", sha256_of(draft.value), found)}


def judged(requests: Sequence[Request], stored: dict[Key, Stored] | None = None, now: datetime = NOW) -> Judgement:
    return judge(requests, stored or {}, count(100).__next__, now)


def statuses(judgement: Judgement) -> list[tuple[int, int, str, int]]:
    memories = [version.memory for version in judgement.versions]
    return [(memory.id, memory.version, memory.status, memory.superseded_by) for memory in memories]


def test_a_new_key_gets_version_one() -> None:
    draft = a_draft(ORG, tags=("t",), confidence=0.5, ttl_seconds=60)
    judgement = judged([a_write(draft)])
    assert judgement.answers == (WriteOutcome(1, 100, sha256_of('"a red fox"'), "live"),)
    assert judgement.retired == ()
    (version,) = judgement.versions
    memory = version.memory
    assert version.live
    assert (memory.tags, memory.confidence, memory.created_at) == (("t",), 0.5, to_millisecond(NOW))
    assert memory.expires_at == to_millisecond(NOW) + timedelta(seconds=60)


def test_a_new_value_supersedes_the_stored_one() -> None:
    before = a_draft(ORG)
    judgement = judged([a_write(a_draft(ORG, text="a blue fox"))], stored_as(before, version=4))
    assert statuses(judgement) == [(100, 5, "live", 0)]
    assert judgement.retired == (Retired(key_of(before), 7, 100),)


def test_the_same_value_changes_nothing() -> None:
    draft = a_draft(ORG, tags=("t",))
    judgement = judged([a_write(draft)], stored_as(draft, version=3))
    assert judgement.answers == (WriteOutcome(3, 7, sha256_of(draft.value), "live", noop=True),)
    assert (judgement.versions, judgement.retired) == ((), ())


@pytest.mark.parametrize(
    "changed",
    [
        {"tags": ("t",)},
        {"category": "c"},
        {"metadata": '{"a":1}'},
        {"confidence": 0.9},
        {"summary": "s"},
        {"canonical": ""},
        {"entities": ("e",)},
        {"memory_type": "episode"},
        {"source_class": "imported"},
        {"source_trace": "s"},
        {"source_resource_id": "s"},
        {"sensitivity": "low"},
        {"valid_at": NOW},
        {"valid_to": NOW},
        {"ttl_seconds": 5},
        {"run_id": "r"},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_the_same_value_with_another_field_is_a_new_version(changed: dict[str, Any]) -> None:
    judgement = judged([a_write(a_draft(ORG, **changed))], stored_as(a_draft(ORG)))
    assert statuses(judgement) == [(100, 2, "live", 0)]


def test_moments_are_compared_as_the_table_keeps_them() -> None:
    draft = a_draft(ORG, valid_at=NOW)
    kept = a_draft(ORG, valid_at=NOW.replace(microsecond=123_000))
    assert judged([a_write(draft)], stored_as(kept)).versions == ()


def test_two_writers_of_one_key_both_get_a_version_and_the_later_lives() -> None:
    drafts = [a_draft(ORG, text="first"), a_draft(ORG, text="second"), a_draft(ORG, "other")]
    judgement = judged([a_write(draft) for draft in drafts], stored_as(a_draft(ORG)))
    assert statuses(judgement) == [(100, 2, "superseded", 101), (101, 3, "live", 0), (102, 1, "live", 0)]
    assert judgement.retired == (Retired(a_key(ORG), 7, 100),)
    assert [answer.status for answer in judgement.answers if isinstance(answer, WriteOutcome)] == [
        "superseded",
        "live",
        "live",
    ]
    assert judgement.versions[0].memory.superseded_at == judgement.at


def test_the_second_write_of_a_value_in_a_group_changes_nothing() -> None:
    judgement = judged([a_write(a_draft(ORG)), a_write(a_draft(ORG))])
    assert statuses(judgement) == [(100, 1, "live", 0)]
    assert judgement.answers[1] == WriteOutcome(1, 100, sha256_of('"a red fox"'), "live", noop=True)


def test_if_match_lets_the_first_of_two_through() -> None:
    sha = sha256_of('"a red fox"')
    drafts = [a_draft(ORG, text="one", if_match_sha256=sha), a_draft(ORG, text="two", if_match_sha256=sha)]
    judgement = judged([a_write(draft) for draft in drafts], stored_as(a_draft(ORG)))
    winner, loser = judgement.answers
    assert isinstance(winner, WriteOutcome)
    assert winner.version == 2
    assert isinstance(loser, Conflict)
    assert sha256_of('"one"') in loser.message


@pytest.mark.parametrize("status", ["tombstoned", None])
def test_if_match_without_a_live_value_is_a_conflict(status: str | None) -> None:
    stored = {a_key(ORG): Stored(7, 2, "tombstoned", sha256_of(""))} if status else {}
    (answer,) = judged([a_write(a_draft(ORG, if_match_sha256=sha256_of("")))], stored).answers
    assert isinstance(answer, Conflict)
    assert "nothing is stored there" in answer.message


def test_a_dry_run_says_what_would_be_and_does_nothing() -> None:
    drafts = [a_draft(ORG, text="would be", dry_run=True), a_draft(ORG, text="is")]
    judgement = judged([a_write(draft) for draft in drafts], stored_as(a_draft(ORG)))
    assert judgement.answers[0] == WriteOutcome(2, 0, sha256_of('"would be"'), "live")
    assert statuses(judgement) == [(100, 2, "live", 0)]


def test_a_removal_writes_a_tombstone() -> None:
    judgement = judged([Removal(a_key(ORG))], stored_as(a_draft(ORG), version=2))
    assert judgement.answers == (WriteOutcome(3, 100, sha256_of(""), "tombstoned"),)
    (tombstone,) = judgement.versions
    assert (tombstone.memory.value, tombstone.write, tombstone.live) == ("", None, False)
    assert judgement.retired == (Retired(a_key(ORG), 7, 100),)


def test_a_removal_of_nothing_is_not_found() -> None:
    judgement = judged([Removal(a_key(ORG)), a_write(a_draft(ORG)), Removal(a_key(ORG)), Removal(a_key(ORG))])
    assert [type(answer) for answer in judgement.answers] == [NotFound, WriteOutcome, WriteOutcome, NotFound]
    assert statuses(judgement) == [(100, 1, "superseded", 101), (101, 2, "tombstoned", 0)]


def test_a_key_set_again_after_its_tombstone_goes_on_counting() -> None:
    stored = {a_key(ORG): Stored(7, 3, "tombstoned", sha256_of(""))}
    judgement = judged([a_write(a_draft(ORG))], stored)
    assert statuses(judgement) == [(100, 4, "live", 0)]
    assert judgement.retired == ()


def test_writers_of_one_name_hold_keys_of_their_own() -> None:
    drafts = [a_draft(ORG), a_draft(ORG, agent="a"), a_draft(ORG, namespace="other"), a_draft("else")]
    assert [row[1:3] for row in statuses(judged([a_write(draft) for draft in drafts]))] == [(1, "live")] * 4
