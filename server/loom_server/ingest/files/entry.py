"""A row as the wire judges it: the fields of `memory.set` that a file may hold.

What the row leaves out of the writer comes from the `Owner` of the run. `dry_run` is no field
of a file: a run writes what it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import ValidationError

from loom_client.wire import DEFAULT_NAMESPACE, DEFAULT_ORG, NONE, MemoryItem, Writer
from loom_client.wire.memory import Content
from loom_server.ingest.files.row import Fault, Row

UNKNOWN_FIELD = "extra_forbidden"
MISSING_FIELD = "missing"


class Entry(Content, Writer):
    """One memory of a file."""


class EntryKey(NamedTuple):
    """Whose key it is; none is `-`."""

    org: str
    namespace: str
    agent: str
    user_id: str
    session_id: str
    memory_key: str


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose rows a run writes, where a row does not say."""

    org: str = DEFAULT_ORG
    namespace: str = DEFAULT_NAMESPACE
    agent: str | None = None
    user_id: str | None = None

    def fields(self) -> Mapping[str, object]:
        """The owner as fields of a row."""
        given = {"org": self.org, "namespace": self.namespace, "agent": self.agent, "user_id": self.user_id}
        return {name: value for name, value in given.items() if value is not None}


def entry_of(row: Row, owner: Owner) -> Entry | tuple[Fault, ...]:
    """The row, or a fault for each field that is wrong."""
    try:
        return Entry.model_validate({**owner.fields(), **row.fields})
    except ValidationError as error:
        return tuple(_faults(row, error))


def key_of(fields: Mapping[str, object], owner: Owner) -> EntryKey:
    """The key that a row's fields stand for, before they are judged."""
    whole = {**owner.fields(), **fields}
    return EntryKey(*(str(whole.get(name) or NONE) for name in EntryKey._fields))


def item_of(entry: Entry) -> MemoryItem:
    """The entry as an item of a `set_many` of its org and namespace."""
    given = {name: getattr(entry, name) for name in entry.model_fields_set if name in MemoryItem.model_fields}
    return MemoryItem.model_construct(set(given), **given)


def _faults(row: Row, error: ValidationError) -> Iterator[Fault]:
    for detail in error.errors(include_url=False, include_input=False):
        context = detail.get("ctx", {})
        path = ".".join(str(part) for part in detail["loc"]) or str(context.get("path", ""))
        message = {UNKNOWN_FIELD: "unknown field", MISSING_FIELD: "required"}.get(detail["type"], detail["msg"])
        yield Fault(row.file, row.at, f"{path}: {message}" if path else message)
