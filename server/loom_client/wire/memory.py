"""Writing memories: `memory.set`, `set_many`, `update`, `delete`.

A memory is one JSON value under a key of a writer. A new value under a key is a new version;
the one before it stays readable. `update` and `delete` find the key across the namespace,
whoever wrote it, and refuse to choose between several writers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from loom_client.wire.base import Answer, Request, refused
from loom_client.wire.fields import Key, Labels, Metadata, Moment, OptionalLabel, Reference, Sha256
from loom_client.wire.identity import Reader, Writer
from loom_client.wire.marks import NotBuilt, unbuilt
from loom_client.wire.problem import Problem
from loom_client.wire.words import MemoryType, Sensitivity, SourceClass, Status

LONGEST_TTL_SECONDS = 100 * 366 * 24 * 3600
CANONICAL_CHARS = 4_000
SUMMARY_CHARS = 20_000

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Seconds = Annotated[int, Field(ge=1, le=LONGEST_TTL_SECONDS)]
Canonical = Annotated[str, Field(max_length=CANONICAL_CHARS)]
Summary = Annotated[str, Field(max_length=SUMMARY_CHARS)]
Relation = Annotated[list[str], Field(min_length=3, max_length=3)]


class Content(Request):
    """What a write says of one memory."""

    memory_key: Key = Field(description="The key, unique for its writer.")
    value: JsonValue = Field(description="The memory itself: any JSON value.")
    memory_type: MemoryType = Field(default="fact", description="What kind of memory it is.")
    canonical: Canonical | None = Field(default=None, description="The memory as one plain sentence.")
    summary: Summary | None = Field(default=None, description="A shorter form of a long value.")
    metadata: Metadata = Field(default={}, description="Names and JSON values that a search may filter on.")
    tags: Labels = Field(default=[], description="Labels that a search may filter on.")
    category: OptionalLabel = Field(default="", description="The one category of the memory; '' is none.")
    entities: Labels = Field(default=[], description="Names of the people and things it is about.")
    confidence: Share = Field(default=1.0, description="How sure the writer is, from 0 to 1.")
    source_class: SourceClass = Field(default="asserted", description="How the writer came to know it.")
    source_trace: OptionalLabel = Field(default="", description="Where it was found: a trace, a file, a message.")
    source_resource_id: OptionalLabel = Field(default="", description="The resource that it was made from.")
    sensitivity: Sensitivity = Field(default="none", description="How sensitive the value is.")
    ttl_seconds: Seconds | None = Field(default=None, description="Seconds from now until it is not found any more.")
    valid_at: Moment | None = Field(default=None, description="Since when it is true.")
    valid_to: Moment | None = Field(default=None, description="Until when it is true.")
    if_match_sha256: Sha256 | None = Field(default=None, description="Write only where the stored value has this hash.")
    language: Annotated[str | None, NotBuilt("set the language of the namespace with namespace.set")] = Field(
        default=None, description="The language of the value."
    )
    relations: Annotated[list[Relation] | None, NotBuilt("name the things in entities")] = Field(
        default=None, description="Triples of subject, relation and object."
    )
    attested: Annotated[bool | None, NotBuilt("say how it is known in source_class")] = Field(
        default=None, description="Whether somebody vouched for it."
    )
    pinned: Annotated[bool | None, NotBuilt("give it a tag and ask for that")] = Field(
        default=None, description="Whether it is kept from expiry and clean-up."
    )
    proposed: Annotated[bool | None, NotBuilt("use dry_run to see what a write would do")] = Field(
        default=None, description="Whether the write waits for approval."
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        check_validity(self.valid_at, self.valid_to)
        return self


def check_validity(valid_at: Moment | None, valid_to: Moment | None) -> None:
    """Refuse a time of validity that ends before it begins."""
    if valid_at is not None and valid_to is not None and valid_to < valid_at:
        raise refused("valid_to", "must not lie before valid_at")


class MemorySetRequest(Content, Writer):
    """Write one memory."""

    dry_run: bool = Field(default=False, description="Tell what the write would do, and write nothing.")


class MemorySetResponse(Answer):
    """What one write did."""

    memory_key: str = Field(description="The key that was written.")
    version: int = Field(description="The version that now counts, from 1.")
    memory_id: str = Field(description="The id of that version; empty for one that a dry run would write.")
    content_sha256: str = Field(description="Hash of the value, for if_match_sha256.")
    status: Status = Field(description="The state of that version.")
    noop: bool = Field(description="True where the stored memory was this one already.")
    dry_run: bool = Field(description="True where nothing was written because dry_run asked so.")
    degraded: tuple[str, ...] = Field(description="What did not work, as '<stage>: <reason code>'.")


class MemoryItem(Content):
    """One memory of a `set_many`; what it leaves out of the writer comes from the request."""

    agent: Reference | None = Field(default=None, description="The agent of this item.")
    user_id: Reference | None = Field(default=None, description="The user of this item.")
    session_id: Reference | None = Field(default=None, description="The session of this item.")
    run_id: Reference | None = Field(default=None, description="The run of this item.")


class MemorySetManyRequest(Writer):
    """Write many memories of one namespace, each judged by itself."""

    items: list[MemoryItem] = Field(min_length=1, description="The memories, in the order they are written.")
    dry_run: bool = Field(default=False, description="Tell what the writes would do, and write nothing.")

    def requests(self) -> Iterator[MemorySetRequest]:
        """Each item as the `memory.set` that it stands for."""
        shared = {name: getattr(self, name) for name in Writer.model_fields} | {"dry_run": self.dry_run}
        for item in self.items:
            own = {name: getattr(item, name) for name in item.model_fields_set}
            defaults = {name: value for name, value in shared.items() if own.get(name) is None}
            yield MemorySetRequest.model_construct(item.model_fields_set | set(shared), **{**own, **defaults})


class MemoryRefused(Answer):
    """The answer for an item that was not written."""

    memory_key: str = Field(description="The key of the item.")
    status: Literal["refused"] = Field(default="refused", description="Always 'refused'.")
    error: Problem = Field(description="Why.")


class MemorySetManyResponse(Answer):
    """An answer for each item, in the order of the request."""

    results: tuple[MemorySetResponse | MemoryRefused, ...] = Field(description="One answer an item.")
    written: int = Field(description="How many items made a new version.")
    unchanged: int = Field(description="How many were stored already.")
    refused: int = Field(description="How many were not written.")


class MemoryUpdateRequest(Content, Reader):
    """Change what is named and keep the rest.

    A list or the metadata is replaced as a whole; null clears a field that may be empty. Only a
    `value` that is given is a new value, and null, where given, is one.
    """

    value: JsonValue = Field(default=None, description="The new value; where it is left out, the old one stays.")
    dry_run: bool = Field(default=False, description="Tell what the update would do, and write nothing.")

    def changes(self) -> dict[str, object]:
        """The fields that the caller gave to be changed, by name."""
        return {name: getattr(self, name) for name in CHANGEABLE if name in self.model_fields_set}

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.model_fields_set.isdisjoint(CHANGEABLE):
            raise refused("value", "or another field to change is required")
        return self


CHANGEABLE = tuple(
    name
    for name in Content.model_fields
    if name not in ("memory_key", "if_match_sha256") and name not in unbuilt(Content)
)


class MemoryUpdateResponse(Answer):
    """What the update did. Where it found nothing, only `updated` and `reason` are sent."""

    updated: bool = Field(description="Whether a new version was written.")
    reason: Literal["not_found", "unchanged", "dry_run"] | None = Field(
        default=None, description="Why no new version was written."
    )
    memory_key: str | None = Field(default=None, description="The key.")
    version: int | None = Field(default=None, description="The version that now counts.")
    memory_id: str | None = Field(default=None, description="The id of that version.")
    content_sha256: str | None = Field(default=None, description="Hash of the value.")
    status: Status | None = Field(default=None, description="The state of that version.")
    degraded: tuple[str, ...] = Field(default=(), description="What did not work, as '<stage>: <reason code>'.")


class MemoryDeleteRequest(Reader):
    """Close a key with a tombstone."""

    memory_key: Key = Field(description="The key, found under whichever writer holds it.")


class MemoryDeleteResponse(Answer):
    """What the delete did. `tombstoned` false is never a success."""

    found: bool = Field(description="Whether the key was live.")
    tombstoned: bool = Field(description="Whether it is closed now.")
    memory_key: str = Field(description="The key.")
    version: int | None = Field(default=None, description="The version of the tombstone.")
    memory_id: str | None = Field(default=None, description="The id of the tombstone.")
