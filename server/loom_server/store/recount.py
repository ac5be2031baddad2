"""The embed plane of a namespace counted anew while writes go on.

    counted    the tokens of the live rows that had a vector of the model at some moment
    settle     what is stored lacks: counted + rows that are live since - rows that are live no more - stored

`count` reads the contents of the whole namespace; `settle` reads ids, and the contents of the rows that changed
meanwhile, and must run while nothing is written and nothing is owed. Contents are read by ids, 25 ms a thousand among
100,000 rows; in pages by key, as `rollups.py` does, the same rows took ten times as long.

Limits: memory holds the ids of the namespace and its vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from loom_server.model.deadline import Deadline
from loom_server.model.scope import Scope
from loom_server.store.rollups import EmbedCounts, Tokenizer, embed_lacking
from loom_server.store.statement import Template
from loom_server.store.statistics import CommitDelta
from loom_server.store.store import Store
from loom_server.store.vectors import Ids

AT_ONCE = 1_000

_LIVE = Template(
    "recount.live",
    "SELECT id FROM loom.memory_embeddings WHERE /*scope*/ AND model = {model:String} AND live = 1 ORDER BY id",
)
_TEXTS = Template("recount.texts", "SELECT id, content FROM loom.memory WHERE /*scope*/ AND id IN {ids:Array(UInt64)}")


@dataclass(slots=True)
class Recount:
    """Rows by their ids, and what their tokens come to."""

    ids: set[int] = field(default_factory=set[int])
    counts: EmbedCounts = field(default_factory=EmbedCounts)


def count(store: Store, scope: Scope, tokenizer: Tokenizer, deadline: Deadline | None = None) -> Recount:
    """Count the live rows that have a vector of the model. A vector whose write is not committed yet is passed over."""
    recount = Recount()
    for row_id, text in _texts(store, scope, _live(store, scope, tokenizer.model, deadline), deadline):
        recount.ids.add(row_id)
        recount.counts.add(tokenizer.tokens(text))
    return recount


def settle(
    store: Store, scope: Scope, tokenizer: Tokenizer, recount: Recount, deadline: Deadline | None = None
) -> CommitDelta:
    """Bring the count up to this moment; answers with what the stored plane lacks of it."""
    now = _live(store, scope, tokenizer.model, deadline)
    before = np.fromiter(recount.ids, dtype=np.uint64, count=len(recount.ids))
    for _, text in _texts(store, scope, np.setdiff1d(now, before), deadline):
        recount.counts.add(tokenizer.tokens(text))
    for _, text in _texts(store, scope, np.setdiff1d(before, now), deadline):
        recount.counts.remove(tokenizer.tokens(text))
    return embed_lacking(store, scope, recount.counts, deadline)


def _live(store: Store, scope: Scope, model: str, deadline: Deadline | None) -> Ids:
    return np.array(store.query(_LIVE.bind(scope, {"model": model}), deadline).column("id"), dtype=np.uint64)


def _texts(store: Store, scope: Scope, ids: Ids, deadline: Deadline | None) -> Iterator[tuple[int, str]]:
    """Id and content of the versions that are committed, in no order."""
    wanted = cast("list[int]", ids.tolist())
    for start in range(0, len(wanted), AT_ONCE):
        statement = _TEXTS.bind(scope, {"ids": wanted[start : start + AT_ONCE]})
        yield from cast("list[tuple[int, str]]", store.query(statement, deadline).rows())
