"""Many memories in calls that the service takes.

    a chunk holds at most `items` items and, beside the request's own fields, at most `body_bytes` bytes

An item that is larger than a body may be stands in a chunk of its own, and the service refuses it by name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import ValidationError

from loom_client.errors import InvalidCall
from loom_client.requests import body_of
from loom_client.wire.memory import MemoryItem, MemorySetManyResponse

ENVELOPE_BYTES = 64
"""Room for the names and brackets around the items."""


def chunks(
    items: Iterable[MemoryItem | Mapping[str, object]], shared: Mapping[str, object], limits: Mapping[str, int]
) -> Iterator[list[MemoryItem]]:
    """`items` in their order, as many at once as a call with the fields `shared` takes.

    Raises `InvalidCall` for a wrong item.
    """
    # Written in ASCII, which is never shorter than UTF-8.
    room = limits["body_bytes"] - ENVELOPE_BYTES - len(json.dumps(dict(shared), default=str))
    pending: list[MemoryItem] = []
    size = 0
    for given in items:
        item = _item(given)
        own = len(body_of(item)) + 1
        if pending and (len(pending) == limits["items"] or size + own > room):
            yield pending
            pending, size = [], 0
        pending.append(item)
        size += own
    if pending:
        yield pending


def joined(answers: Sequence[MemorySetManyResponse]) -> MemorySetManyResponse:
    """One answer for all chunks, with the results in the order of the items."""
    return MemorySetManyResponse(
        results=tuple(result for answer in answers for result in answer.results),
        written=sum(answer.written for answer in answers),
        unchanged=sum(answer.unchanged for answer in answers),
        refused=sum(answer.refused for answer in answers),
    )


def _item(given: MemoryItem | Mapping[str, object]) -> MemoryItem:
    try:
        return MemoryItem.model_validate(given if isinstance(given, MemoryItem) else dict(given))
    except ValidationError as error:
        raise InvalidCall.of("memory.set_many", error) from None
