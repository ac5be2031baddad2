"""The window: which of the ranked rows are served, and where each other row fell.

In this order: deleted rows and expired rows never; superseded rows where asked for; of one
key the best `per_key_cap` live rows; no row of `exclude_keys`; rows under the floor as
`floor_mode` says; the first `top_k`, or on a later page those that follow.

    readmit    under the floor: after the confident rows
    ids_only   the same place, with an empty body
    drop       not served, counted

The cap counts live rows only. A superseded version comes only when the request asks for
history, and a cap that hid it again would answer the request with nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from loom_server.model.candidate import Ranked
from loom_server.model.memory import Memory
from loom_server.model.plan import Plan
from loom_server.model.query import SearchRequest
from loom_server.model.window import Drop, Lines, Window

Marked = tuple[Ranked, Lines]


def shape_window(
    ranked: Sequence[Ranked], lines: Sequence[Lines], plan: Plan, request: SearchRequest, now: datetime
) -> Window:
    """Shape rows that are in their final order; `lines` holds one value a row.

    `now` is in UTC, as are the rows' `expires_at`.
    """
    seen, hidden = _visible(zip(ranked, lines, strict=True), plan, request, now)
    confident = [marked for marked in seen if not marked[1].below_floor]
    weak = [marked for marked in seen if marked[1].below_floor]
    dropping = plan.floor_mode == "drop"
    order = confident if dropping else confident + weak
    starts = 0 if request.page is None else request.page.offset
    ends = starts + plan.top_k
    rows = tuple(_served(row, line) for row, line in order[starts:ends])
    floored = [_under_floor(row, plan) for row, _ in weak] if dropping else []
    bodiless = [row.memory.id for row in rows if row.below_floor] if plan.floor_mode == "ids_only" else []
    return Window(
        rows=rows,
        fallen=(*hidden, *floored),
        beyond=tuple(row for row, _ in order[ends:]),
        ranked=len(ranked),
        below_floor=len(weak),
        best_similarity=max((row.similarity for row, _ in order), default=0.0),
        without_body=frozenset(bodiless),
        before=tuple(row for row, _ in order[:starts]),
    )


def _served(row: Ranked, lines: Lines) -> Ranked:
    return replace(row, below_floor=lines.below_floor, below_threshold=lines.below_threshold, evidence=lines.evidence)


def _visible(
    marked: Iterable[Marked], plan: Plan, request: SearchRequest, now: datetime
) -> tuple[list[Marked], list[Drop]]:
    """The rows that may be seen, and why the others may not."""
    seen: list[Marked] = []
    hidden: list[Drop] = []
    live_of_key: Counter[tuple[str, ...]] = Counter()
    excluded = frozenset(request.exclude_keys)
    for row, lines in marked:
        memory = row.memory
        drop = _status(memory, request, now)
        if drop is None and memory.status == "live":
            key = _key(memory)
            live_of_key[key] += 1
            drop = _over_cap(memory, live_of_key[key], plan)
        if drop is None and memory.memory_key in excluded:
            drop = Drop(memory.id, "excluded", "exclude_keys names its key")
        if drop is None:
            seen.append((row, lines))
        else:
            hidden.append(drop)
    return seen, hidden


def _key(memory: Memory) -> tuple[str, ...]:
    """`Memory.key` as a plain tuple: it is hashed once for each candidate."""
    i = memory.identity
    return (memory.memory_key, i.org, i.namespace, i.agent, i.user_id, i.session_id)


def _status(memory: Memory, request: SearchRequest, now: datetime) -> Drop | None:
    if memory.status == "tombstoned":
        return Drop(memory.id, "tombstoned", "it was deleted")
    if memory.expires_at is not None and memory.expires_at <= now:
        return Drop(memory.id, "expired", "its time to live is over")
    if memory.status == "superseded" and not request.include_superseded:
        return Drop(memory.id, "superseded", "a later version took its place; include_superseded keeps it")
    return None


def _over_cap(memory: Memory, place: int, plan: Plan) -> Drop | None:
    if place <= plan.per_key_cap:
        return None
    return Drop(memory.id, "per_key_cap", f"row {place} of its key, of which {plan.per_key_cap} may be served")


def _under_floor(row: Ranked, plan: Plan) -> Drop:
    detail = f"similarity {row.similarity:.3f} is under the floor {plan.floor:.3f}; floor_mode readmit keeps it"
    return Drop(row.memory.id, "floor", detail)
