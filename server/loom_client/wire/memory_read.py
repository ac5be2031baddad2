"""Reading memories by key: `memory.get`, `list`, `history`.

A missed `get` is `found: false`, not an error. A page of a list continues after its last key,
so rows written meanwhile neither repeat nor hide others.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, JsonValue, model_validator

from loom_client.wire.base import Answer, refused
from loom_client.wire.fields import KEY_CHARS, Key, Labels, Moment, plain
from loom_client.wire.identity import Reader
from loom_client.wire.words import MemoryType, Status

MOST_ROWS = 1_000
LIST_ROWS = 100
HISTORY_ROWS = 100
_CURSOR_CHARS = 4_000


class StoredMemory(Answer):
    """One version of a memory, whole."""

    memory_key: str = Field(description="The key.")
    memory_id: str = Field(description="The id of this version.")
    version: int = Field(description="The version, from 1.")
    status: Status = Field(description="Whether this version counts.")
    value: JsonValue = Field(description="The memory itself.")
    content_sha256: str = Field(description="Hash of the value, for if_match_sha256.")
    memory_type: str = Field(description="What kind of memory it is.")
    canonical: str | None = Field(description="The memory as one plain sentence.")
    summary: str | None = Field(description="A shorter form of a long value.")
    metadata: dict[str, JsonValue] = Field(description="Names and JSON values.")
    tags: tuple[str, ...] = Field(description="Its labels.")
    category: str = Field(description="Its category; '' is none.")
    entities: tuple[str, ...] = Field(description="The people and things it is about.")
    confidence: float = Field(description="How sure the writer was, from 0 to 1.")
    source_class: str = Field(description="How the writer came to know it.")
    source_trace: str = Field(description="Where it was found.")
    source_resource_id: str = Field(description="The resource that it was made from.")
    sensitivity: str = Field(description="How sensitive the value is.")
    namespace: str = Field(description="The namespace.")
    agent: str = Field(description="The agent that wrote it; '' is none.")
    user_id: str = Field(description="The user it is about; '' is none.")
    session_id: str = Field(description="The session it came from; '' is none.")
    run_id: str = Field(description="The run that wrote it; '' is none.")
    created_at: Moment = Field(description="When this version was written.")
    valid_at: Moment | None = Field(description="Since when it is true.")
    valid_to: Moment | None = Field(description="Until when it is true.")
    expires_at: Moment | None = Field(description="From when on it is not found any more.")
    superseded_by: str | None = Field(description="The id of the version that took its place.")
    superseded_at: Moment | None = Field(description="When that was.")


class MemoryGetRequest(Reader):
    """Read one memory by its key."""

    memory_key: Key = Field(description="The key, found under whichever writer holds it.")
    as_of: Moment | None = Field(default=None, description="Read the version that counted at this time.")
    if_version: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="The version the caller has: answered with `unchanged` where it still counts."
    )


class MemoryGetResponse(Answer):
    """The memory's own fields beside `found`; a miss has `found` alone."""

    found: bool = Field(description="Whether the key had a version that counts.")
    unchanged: bool = Field(
        default=False, description="True where `if_version` still counts; the memory is not sent again."
    )
    memory_key: str | None = Field(default=None, description="The key.")
    memory_id: str | None = Field(default=None, description="The id of this version.")
    version: int | None = Field(default=None, description="The version, from 1.")
    status: Status | None = Field(default=None, description="Whether this version counts.")
    value: JsonValue = Field(default=None, description="The memory itself.")
    content_sha256: str | None = Field(default=None, description="Hash of the value, for if_match_sha256.")
    memory_type: str | None = Field(default=None, description="What kind of memory it is.")
    canonical: str | None = Field(default=None, description="The memory as one plain sentence.")
    summary: str | None = Field(default=None, description="A shorter form of a long value.")
    metadata: dict[str, JsonValue] | None = Field(default=None, description="Names and JSON values.")
    tags: tuple[str, ...] | None = Field(default=None, description="Its labels.")
    category: str | None = Field(default=None, description="Its category; '' is none.")
    entities: tuple[str, ...] | None = Field(default=None, description="The people and things it is about.")
    confidence: float | None = Field(default=None, description="How sure the writer was, from 0 to 1.")
    source_class: str | None = Field(default=None, description="How the writer came to know it.")
    source_trace: str | None = Field(default=None, description="Where it was found.")
    source_resource_id: str | None = Field(default=None, description="The resource that it was made from.")
    sensitivity: str | None = Field(default=None, description="How sensitive the value is.")
    namespace: str | None = Field(default=None, description="The namespace.")
    agent: str | None = Field(default=None, description="The agent that wrote it; '' is none.")
    user_id: str | None = Field(default=None, description="The user it is about; '' is none.")
    session_id: str | None = Field(default=None, description="The session it came from; '' is none.")
    run_id: str | None = Field(default=None, description="The run that wrote it; '' is none.")
    created_at: Moment | None = Field(default=None, description="When this version was written.")
    valid_at: Moment | None = Field(default=None, description="Since when it is true.")
    valid_to: Moment | None = Field(default=None, description="Until when it is true.")
    expires_at: Moment | None = Field(default=None, description="From when on it is not found any more.")
    superseded_by: str | None = Field(default=None, description="The id of the version that took its place.")
    superseded_at: Moment | None = Field(default=None, description="When that was.")

    @classmethod
    def of(cls, stored: StoredMemory) -> Self:
        """The answer that carries `stored`."""
        return cls(found=True, **dict(stored))


class MemoryListRequest(Reader):
    """Read the memories of a namespace in the order of their keys."""

    prefix: Annotated[str, plain(0, KEY_CHARS)] = Field(default="", description="Only keys that begin so.")
    memory_type: MemoryType | None = Field(default=None, description="Only memories of this kind.")
    tags: Labels = Field(default=[], description="Only memories that carry one of these tags.")
    limit: int = Field(default=LIST_ROWS, ge=1, le=MOST_ROWS, description="Most memories of one page.")
    cursor: Annotated[str, plain(1, _CURSOR_CHARS)] | None = Field(
        default=None, description="`next_cursor` of the page before, with the same other fields."
    )
    include_superseded: bool = Field(default=False, description="Also versions that no longer count.")
    count_only: bool = Field(default=False, description="Answer with the count alone.")

    @model_validator(mode="after")
    def _either(self) -> Self:
        if self.count_only and self.cursor is not None:
            raise refused("cursor", "has no meaning beside count_only; leave one of them out")
        return self


class MemoryListResponse(Answer):
    """A page of memories, or with `count_only` how many there are."""

    memories: tuple[StoredMemory, ...] = Field(default=(), description="The page.")
    next_cursor: str | None = Field(default=None, description="What to ask the next page with; null at the end.")
    count: int | None = Field(default=None, description="How many memories all pages hold.")


class MemoryHistoryRequest(Reader):
    """Read the versions of a key, newest first."""

    memory_key: Key = Field(description="The key.")
    limit: int = Field(default=HISTORY_ROWS, ge=1, le=MOST_ROWS, description="Most versions to answer with.")


class MemoryHistoryResponse(Answer):
    """The versions of a key, of every writer that is meant, newest first."""

    found: bool = Field(description="Whether the key ever had a version.")
    versions: tuple[StoredMemory, ...] = Field(description="The versions, tombstones among them.")
