"""Many memories in calls that the service takes.

    a chunk holds at most `items` items and, beside the request's own fields, at most `body_bytes` bytes

An item that is larger than a body may be stands in a chunk of its own, and the service refuses it by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from loom_client.requests import body_of, request_of
from loom_client.wire.memory import MemoryItem, MemorySetManyRequest, MemorySetManyResponse

ENVELOPE_BYTES = 64
"""Room for the names and brackets around the items."""


def chunks(
    items: Iterable[MemoryItem | Mapping[str, object]], shared: Mapping[str, object], limits: Mapping[str, int]
) -> Iterator[MemorySetManyRequest]:
    """The requests that write `items` in their order. Raises `InvalidCall` for a wrong item."""
    most_items, most_bytes = limits["items"], limits["body_bytes"]
    pending: list[MemoryItem] = []
    size = 0
    for given in items:
        (item,) = _request([given], shared).items
        own = len(body_of(_request([item], shared))) + ENVELOPE_BYTES
        if pending and (len(pending) == most_items or size + own > most_bytes):
            yield _request(pending, shared)
            pending, size = [], 0
        pending.append(item)
        size += own
    if pending:
        yield _request(pending, shared)


def joined(answers: Sequence[MemorySetManyResponse]) -> MemorySetManyResponse:
    """One answer for all chunks, with the results in the order of the items."""
    return MemorySetManyResponse(
        results=tuple(result for answer in answers for result in answer.results),
        written=sum(answer.written for answer in answers),
        unchanged=sum(answer.unchanged for answer in answers),
        refused=sum(answer.refused for answer in answers),
    )


def _request(items: Sequence[MemoryItem | Mapping[str, object]], shared: Mapping[str, object]) -> MemorySetManyRequest:
    request = request_of("memory.set_many", {**shared, "items": [*items]})
    assert isinstance(request, MemorySetManyRequest)  # noqa: S101 - the table of contracts says so
    return request
