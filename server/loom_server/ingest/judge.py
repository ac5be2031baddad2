"""Judging a group of requests against what is stored: which versions come to be, which retire.

    new value        a version one higher, live; the newest before it is superseded
    same value       nothing, where every other field is the same too
    if_match         a Conflict unless the live value has that hash
    if_newest        a Conflict unless the live version is that very one
    removal          a tombstone one higher; a key without a live value is NotFound
    dry run          judged, and then nothing

Requests are judged in their order, each against what those before it have made of its key, so two
writers of one key in one group both get their version and the later one lives. Pure: row ids and
the moment are given.

Limits: a draft with a time to live is never the same as what is stored, since its end has moved. A
row that was stored without its vector stays so while the same value is written again; a re-embedding mends it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from loom_server.errors import Conflict, LoomError, NotFound
from loom_server.ingest.content import sha256_of
from loom_server.ingest.request import Removal, Request, Write
from loom_server.model.memory import Draft, Key, Memory, Status, WriteOutcome
from loom_server.model.scope import Identity
from loom_server.store.claims import Claimed

Answer = WriteOutcome | LoomError
Traits = tuple[object, ...]
NO_VALUE = sha256_of("")
"""The hash of a tombstone; every value has another, since JSON is never empty."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The newest version of a key, as far as judging needs it; the traits only where a write has its value."""

    id: int
    version: int
    status: Status
    sha256: str
    traits: Traits | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """A version to be written. Only a live one counts in the roll-ups; a tombstone has no `write`."""

    memory: Memory
    write: Write | None

    @property
    def live(self) -> bool:
        return self.memory.status == "live"


@dataclass(frozen=True, slots=True)
class Retired:
    """A stored live version that the group ends, and the id of the version that comes after it."""

    key: Key
    id: int
    successor: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a group comes to: an answer for each request, the rows behind the answers, and what they were claimed by."""

    answers: tuple[Answer, ...]
    versions: tuple[Version, ...]
    retired: tuple[Retired, ...]
    at: datetime
    claimed: Claimed | None = None


def judge(
    requests: Sequence[Request], stored: Mapping[Key, Stored], next_id: Callable[[], int], now: datetime
) -> Judgement:
    """Judge the requests in order."""
    bench = _Bench(stored, next_id, to_millisecond(now))
    answers = [bench.write(request) if isinstance(request, Write) else bench.remove(request) for request in requests]
    return bench.judgement(answers)


def traits(source: Draft | Memory, run_id: str, expires_at: datetime | None) -> Traits:
    """What must be equal, beside the value, for a write to change nothing."""
    return (
        run_id,
        source.content,
        source.memory_type,
        source.canonical,
        source.summary,
        source.metadata,
        source.tags,
        source.category,
        source.entities,
        source.confidence,
        source.source_class,
        source.source_trace,
        source.source_resource_id,
        source.sensitivity,
        *map(_tick, (source.valid_at, source.valid_to, expires_at)),
    )


@dataclass(slots=True)
class _Bench:
    stored: Mapping[Key, Stored]
    next_id: Callable[[], int]
    now: datetime
    newest: dict[Key, Stored] = field(default_factory=dict[Key, Stored])
    versions: dict[int, Version] = field(default_factory=dict[int, Version])
    retired: list[Retired] = field(default_factory=list[Retired])

    def write(self, write: Write) -> Answer:
        draft, before = write.draft, self._newest(write.key)
        live = before if before is not None and before.status == "live" else None
        wanted = draft.if_match_sha256
        if wanted is not None and (live is None or live.sha256 != wanted):
            return _lost(draft.memory_key, live)
        if draft.if_newest is not None and (live is None or live.id != draft.if_newest):
            return _overtaken(draft.memory_key)
        ends = draft.expires_at if draft.ttl_seconds is None else self.now + timedelta(seconds=draft.ttl_seconds)
        new_traits = traits(draft, draft.identity.run_id, ends)
        if live is not None and live.sha256 == write.sha256 and live.traits == new_traits:
            return WriteOutcome(live.version, live.id, live.sha256, "live", noop=True)
        version = before.version + 1 if before else 1
        if draft.dry_run:
            return WriteOutcome(version, 0, write.sha256, "live", degraded=write.degraded)
        memory = _memory(write, self.next_id(), version, self.now, ends)
        self._accept(Version(memory, write), new_traits)
        return WriteOutcome(version, memory.id, write.sha256, "live", degraded=write.degraded)

    def remove(self, removal: Removal) -> Answer:
        before = self._newest(removal.key)
        if before is None or before.status != "live":
            return NotFound(f"There is no memory under the key {removal.key.memory_key!r} for this writer.")
        memory = _tombstone(removal.key, self.next_id(), before.version + 1, self.now)
        self._accept(Version(memory, None), ())
        return WriteOutcome(memory.version, memory.id, memory.content_sha256, "tombstoned")

    def judgement(self, answers: Sequence[Answer]) -> Judgement:
        """The end of the group; a version that another of the group has ended says so in its answer."""
        ended = {version.memory.id for version in self.versions.values() if version.memory.status == "superseded"}
        final = tuple(
            replace(answer, status="superseded")
            if isinstance(answer, WriteOutcome) and answer.row_id in ended
            else answer
            for answer in answers
        )
        return Judgement(final, tuple(self.versions.values()), tuple(self.retired), self.now)

    def _newest(self, key: Key) -> Stored | None:
        return self.newest.get(key) or self.stored.get(key)

    def _accept(self, version: Version, version_traits: Traits) -> None:
        memory = version.memory
        before = self._newest(memory.key)
        if before is not None and before.status == "live":
            self._end(memory, before)
        self.versions[memory.id] = version
        self.newest[memory.key] = Stored(
            memory.id, memory.version, memory.status, memory.content_sha256, version_traits
        )

    def _end(self, memory: Memory, before: Stored) -> None:
        """`memory` ends `before`, which is of this group or stored."""
        own = self.versions.get(before.id)
        if own is None:
            self.retired.append(Retired(memory.key, before.id, memory.id))
        else:
            ended = replace(own.memory, status="superseded", superseded_by=memory.id, superseded_at=self.now)
            self.versions[before.id] = Version(ended, own.write)


def _lost(memory_key: str, live: Stored | None) -> Conflict:
    holds = "nothing is stored there" if live is None else f"the stored value has {live.sha256}"
    return Conflict(f"if_match_sha256: not the value under the key {memory_key!r}: {holds}. Read it again and retry.")


def _overtaken(memory_key: str) -> Conflict:
    return Conflict(f"memory_key: another writer changed {memory_key!r} meanwhile. Read it again and retry.")


def _memory(write: Write, row_id: int, version: int, now: datetime, ends: datetime | None) -> Memory:
    draft = write.draft
    return Memory(
        id=row_id,
        identity=draft.identity,
        memory_key=draft.memory_key,
        version=version,
        status="live",
        value=draft.value,
        content=draft.content,
        content_sha256=write.sha256,
        memory_type=draft.memory_type,
        canonical=draft.canonical,
        summary=draft.summary,
        metadata=draft.metadata,
        tags=draft.tags,
        category=draft.category,
        entities=draft.entities,
        confidence=draft.confidence,
        source_class=draft.source_class,
        source_trace=draft.source_trace,
        source_resource_id=draft.source_resource_id,
        sensitivity=draft.sensitivity,
        created_at=now,
        valid_at=draft.valid_at,
        valid_to=draft.valid_to,
        expires_at=ends,
    )


def _tombstone(key: Key, row_id: int, version: int, now: datetime) -> Memory:
    return Memory(
        id=row_id,
        identity=Identity(key.org, key.namespace, key.agent, key.user_id, key.session_id),
        memory_key=key.memory_key,
        version=version,
        status="tombstoned",
        value="",
        content="",
        content_sha256=NO_VALUE,
        created_at=now,
    )


def to_millisecond(moment: datetime) -> datetime:
    """The moment as the table keeps it."""
    return moment - timedelta(microseconds=moment.microsecond % 1000)


def _tick(moment: datetime | None) -> datetime | None:
    return None if moment is None else to_millisecond(moment)
