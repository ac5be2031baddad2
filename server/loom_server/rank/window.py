"""The window: which of the ranked rows are served, and where each other row fell.

In this order: deleted rows and expired rows never; superseded rows where asked for; of one
key the best `per_key_cap` live rows; no row of `exclude_keys`; rows under the floor as
`floor_mode` says; the first `top_k`.

The cap counts live rows only. A superseded version comes only when the request asks for
history, and a cap that hid it again would answer the request with nothing.

    readmit    under the floor: after the confident rows
    ids_only   the same place, with an empty body
    drop       not served, counted
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from loom_server.model.candidate import Ranked
from loom_server.model.memory import Key
from loom_server.model.plan import Plan
from loom_server.model.query import SearchRequest
from loom_server.model.window import Drop, Window


def shape_window(ranked: Sequence[Ranked], plan: Plan, request: SearchRequest, now: datetime) -> Window:
    """Shape rows that are in their final order and carry their `below_floor` mark.

    `now` is in UTC, as are the rows' `expires_at`.
    """
    seen, hidden = _visible(ranked, plan, request, now)
    confident = [row for row in seen if not row.below_floor]
    weak = [row for row in seen if row.below_floor]
    dropping = plan.floor_mode == "drop"
    order = confident if dropping else confident + weak
    rows = tuple(order[: plan.top_k])
    floored = [_under_floor(row, plan) for row in weak] if dropping else []
    beyond = [_beyond(row, place, plan) for place, row in enumerate(order[plan.top_k :], plan.top_k + 1)]
    bodiless = [row.memory.id for row in rows if row.below_floor] if plan.floor_mode == "ids_only" else []
    return Window(
        rows=rows,
        drops=(*hidden, *floored, *beyond),
        ranked=len(ranked),
        below_floor=len(weak),
        best_similarity=max((row.similarity for row in order), default=0.0),
        without_body=frozenset(bodiless),
    )


def _visible(
    ranked: Sequence[Ranked], plan: Plan, request: SearchRequest, now: datetime
) -> tuple[list[Ranked], list[Drop]]:
    """The rows that may be seen, and why the others may not."""
    seen: list[Ranked] = []
    hidden: list[Drop] = []
    live_of_key: Counter[Key] = Counter()
    excluded = frozenset(request.exclude_keys)
    for row in ranked:
        drop = _status(row, request, now)
        if drop is None and row.memory.status == "live":
            live_of_key[row.memory.key] += 1
            drop = _over_cap(row, live_of_key[row.memory.key], plan)
        if drop is None and row.memory.memory_key in excluded:
            drop = Drop(row.memory.id, "excluded", "exclude_keys names its key")
        if drop is None:
            seen.append(row)
        else:
            hidden.append(drop)
    return seen, hidden


def _status(row: Ranked, request: SearchRequest, now: datetime) -> Drop | None:
    memory = row.memory
    if memory.status == "tombstoned":
        return Drop(memory.id, "tombstoned", "it was deleted")
    if memory.expires_at is not None and memory.expires_at <= now:
        return Drop(memory.id, "expired", "its time to live is over")
    if memory.status == "superseded" and not request.include_superseded:
        return Drop(memory.id, "superseded", "a later version took its place; include_superseded keeps it")
    return None


def _over_cap(row: Ranked, place: int, plan: Plan) -> Drop | None:
    if place <= plan.per_key_cap:
        return None
    detail = f"row {place} of its key, of which {plan.per_key_cap} may be served"
    return Drop(row.memory.id, "per_key_cap", detail)


def _under_floor(row: Ranked, plan: Plan) -> Drop:
    detail = f"similarity {row.similarity:.3f} is under the floor {plan.floor:.3f}; floor_mode readmit keeps it"
    return Drop(row.memory.id, "floor", detail)


def _beyond(row: Ranked, place: int, plan: Plan) -> Drop:
    return Drop(row.memory.id, "window", f"place {place} is beyond top_k {plan.top_k}")
