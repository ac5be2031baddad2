"""The embed plane of a namespace counted anew while writes go on.

    counted    the tokens of the live rows that had a vector of the model at some moment
    settle     what is stored lacks: counted + rows that are live since - rows that are live no more - stored

`count` reads the contents of the whole namespace and may take minutes; `settle` reads ids, and the contents of the
rows that changed meanwhile, and must run while nothing is written and nothing is owed.

Limits: memory holds the ids of the namespace, eight bytes each, and its vocabulary.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from loom_server.model.deadline import Deadline
from loom_server.model.scope import Scope
from loom_server.store.rollups import EmbedCounts, Tokenizer, contents, embed_lacking
from loom_server.store.statement import Template
from loom_server.store.statistics import CommitDelta
from loom_server.store.store import Store
from loom_server.store.vectors import Ids

AT_ONCE = 1_000

_LIVE = Template(
    "recount.live",
    "SELECT id FROM loom.memory_embeddings WHERE /*scope*/ AND model = {model:String} AND live = 1",
)
_TEXTS = Template("recount.texts", "SELECT content FROM loom.memory WHERE /*scope*/ AND id IN {ids:Array(UInt64)}")


@dataclass(frozen=True, slots=True)
class Recount:
    """Rows by their ids, and what their tokens come to."""

    ids: array[int] = field(default_factory=lambda: array("Q"))
    counts: EmbedCounts = field(default_factory=EmbedCounts)


def count(store: Store, scope: Scope, tokenizer: Tokenizer, deadline: Deadline | None = None) -> Recount:
    """Count the live rows that have a vector of the model, as far as they are there when their page is read."""
    recount = Recount()
    for row_id, content in contents(store, scope, tokenizer.model, deadline):
        recount.ids.append(row_id)
        recount.counts.add(tokenizer.tokens(content))
    return recount


def settle(
    store: Store, scope: Scope, tokenizer: Tokenizer, recount: Recount, deadline: Deadline | None = None
) -> CommitDelta:
    """Bring the count up to this moment; answers with what the stored plane lacks of it."""
    now = np.array(store.query(_LIVE.bind(scope, {"model": tokenizer.model}), deadline).column("id"), dtype=np.uint64)
    before = np.array(recount.ids, dtype=np.uint64)
    for text in _texts(store, scope, np.setdiff1d(now, before), deadline):
        recount.counts.add(tokenizer.tokens(text))
    for text in _texts(store, scope, np.setdiff1d(before, now), deadline):
        recount.counts.remove(tokenizer.tokens(text))
    return embed_lacking(store, scope, recount.counts, deadline)


def _texts(store: Store, scope: Scope, ids: Ids, deadline: Deadline | None) -> list[str]:
    """The contents of the versions, in no order."""
    wanted = cast("list[int]", ids.tolist())
    parts = (wanted[start : start + AT_ONCE] for start in range(0, len(wanted), AT_ONCE))
    found = (store.query(_TEXTS.bind(scope, {"ids": part}), deadline).column("content") for part in parts)
    return [str(text) for part in found for text in part]
