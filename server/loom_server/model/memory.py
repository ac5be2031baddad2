"""A stored memory: one version of one key, as the table holds it.

A key is the tuple (org, namespace, agent, user_id, session_id, memory_key). A new value
under a key is a new version with a new row id; the old one stays, marked superseded.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from loom_server.model.scope import Identity

MemoryType = Literal["fact", "preference", "episode", "procedure", "semantic"]
SourceClass = Literal["asserted", "observed", "extracted", "imported", "external"]
Sensitivity = Literal["none", "low", "medium", "high"]
Status = Literal["live", "superseded", "tombstoned"]


@dataclass(frozen=True, slots=True)
class Key:
    """What a version belongs to."""

    org: str
    namespace: str
    agent: str
    user_id: str
    session_id: str
    memory_key: str


@dataclass(frozen=True, slots=True)
class Memory:
    """One version. `value` is JSON text; `content` is the plain text that is searched."""

    id: int
    identity: Identity
    memory_key: str
    version: int
    status: Status
    value: str
    content: str
    content_sha256: str
    memory_type: str = "fact"
    canonical: str | None = None
    summary: str | None = None
    metadata: str = "{}"
    tags: tuple[str, ...] = ()
    category: str = ""
    entities: tuple[str, ...] = ()
    confidence: float = 1.0
    source_class: str = "asserted"
    source_trace: str = ""
    source_resource_id: str = ""
    sensitivity: str = "none"
    created_at: datetime | None = None
    valid_at: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    superseded_by: int = 0
    superseded_at: datetime | None = None

    @property
    def key(self) -> Key:
        i = self.identity
        return Key(i.org, i.namespace, i.agent, i.user_id, i.session_id, self.memory_key)


@dataclass(frozen=True, slots=True)
class Draft:
    """A write before it is judged: what the caller gave, analysed later.

    `ttl_seconds` counts from the commit and goes before `expires_at`. `if_newest` is the row id
    of the version that the draft was made from: it is written only while that one still counts.
    """

    identity: Identity
    memory_key: str
    value: str
    content: str
    memory_type: str = "fact"
    canonical: str | None = None
    summary: str | None = None
    metadata: str = "{}"
    tags: tuple[str, ...] = ()
    category: str = ""
    entities: tuple[str, ...] = ()
    confidence: float = 1.0
    source_class: str = "asserted"
    source_trace: str = ""
    source_resource_id: str = ""
    sensitivity: str = "none"
    ttl_seconds: int | None = None
    valid_at: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    if_match_sha256: str | None = None
    if_newest: int | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """What one write did. `noop` is true where the stored value already was this one."""

    version: int
    row_id: int
    content_sha256: str
    status: Status
    noop: bool = False
    degraded: tuple[str, ...] = ()
