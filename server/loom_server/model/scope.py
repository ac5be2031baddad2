"""Who asks, and what they may see.

A `Scope` is the only thing from which a predicate on a tenant's table can be built
(`store/statement.py`); it always names one org and at least one namespace, so an empty
scope cannot mean "everything".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

NONE = "-"


@dataclass(frozen=True, slots=True)
class Identity:
    """The writer of a row, or the caller of an operation. `""` means none."""

    org: str = "dev"
    namespace: str = "local"
    agent: str = ""
    user_id: str = ""
    session_id: str = ""
    run_id: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a read may see. None means "not narrowed"; a value narrows to it."""

    org: str
    namespace: str
    agent: str | None = None
    user_id: str | None = None
    session_ids: tuple[str, ...] | None = None
    run_id: str | None = None

    def __post_init__(self) -> None:
        if not self.org or not self.namespace:
            raise ValueError("a scope names an org and a namespace")


@dataclass(frozen=True, slots=True)
class Filters:
    """What a row must carry, beyond its scope. Empty means no condition.

    `metadata` holds names with their values as JSON. `unexpired_at` leaves out what had expired
    by that time.
    """

    memory_type: str | None = None
    category: str | None = None
    tags_any: tuple[str, ...] = ()
    tags_all: tuple[str, ...] = ()
    tags_none: tuple[str, ...] = ()
    source_class: tuple[str, ...] = ()
    created_after: datetime | None = None
    created_before: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    min_confidence: float | None = None
    metadata: tuple[tuple[str, str], ...] = field(default=())
    exclude_keys: tuple[str, ...] = ()
    unexpired_at: datetime | None = None

    @property
    def empty(self) -> bool:
        return self == Filters()
