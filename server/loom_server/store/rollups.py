"""Roll-ups against a rebuild: what must be added so that `token_df` and `corpus_stats` are right.

    plane 'fact'    over live postings: df = postings of a token, cf = sum of tf,
                    docs = postings of the empty token, length = sum of their dl
    plane 'embed'   over live rows with a vector of the model: counts of the embedder's tokens of
                    the content, docs = rows, length = tokens

A drift is a `CommitDelta`; inserting it makes stored and rebuilt equal. The fact plane is compared in
the engine, and only tokens that differ come back. The embed plane is counted here, page by page:
memory holds one page of contents and the vocabulary. `recount.py` does so while writes go on.

Limits: the tokens of vectors of another model than the live one cannot be counted; such an org's
embed plane is left as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from loom_server.model.deadline import Deadline
from loom_server.model.scope import Scope
from loom_server.store.statement import Template
from loom_server.store.statistics import EMBED, FACT, CommitDelta, roll_ups
from loom_server.store.store import Store

LAG_S = 5.0
"""Longest that roll-ups and flags may lag behind `memory`, in the time that row ids tell."""
PAGE = 500
"""Contents read at once."""

_FACT_TOKENS = Template(
    "rollups.fact_tokens",
    """
    SELECT token, sum(df) AS df, sum(cf) AS cf
    FROM
    (
        SELECT token, toInt64(count()) AS df, toInt64(sum(tf)) AS cf
        FROM loom.postings WHERE /*scope*/ AND plane = 'fact' AND token != '' AND live = 1 GROUP BY token
        UNION ALL
        SELECT token, -sum(df) AS df, -sum(cf) AS cf
        FROM loom.token_df WHERE /*scope*/ AND plane = 'fact' GROUP BY token
    )
    GROUP BY token
    HAVING df != 0 OR cf != 0
    """,
)
_FACT_CORPUS = Template(
    "rollups.fact_corpus",
    """
    SELECT sum(docs) AS docs, sum(length) AS length
    FROM
    (
        SELECT toInt64(count()) AS docs, toInt64(sum(dl)) AS length
        FROM loom.postings WHERE /*scope*/ AND plane = 'fact' AND token = '' AND live = 1
        UNION ALL
        SELECT -sum(docs), -sum(length) FROM loom.corpus_stats WHERE /*scope*/ AND plane = 'fact'
    )
    """,
)
_CONTENTS = Template(
    "rollups.contents",
    """
    SELECT agent, user_id, session_id, memory_key, version, content
    FROM loom.memory
    WHERE /*scope*/ AND status = 'live'
        AND (agent, user_id, session_id, memory_key, version)
            > ({agent:String}, {user:String}, {session:String}, {memory_key:String}, {version:UInt32})
        AND id IN (SELECT id FROM loom.memory_embeddings WHERE /*scope*/ AND model = {model:String} AND live = 1)
    ORDER BY agent, user_id, session_id, memory_key, version
    LIMIT {limit:UInt32}
    """,
)
_STORED_TOKENS = Template(
    "rollups.stored_tokens",
    """
    SELECT token, sum(df) AS df, sum(cf) AS cf
    FROM loom.token_df WHERE /*scope*/ AND plane = 'embed' GROUP BY token HAVING df != 0 OR cf != 0
    """,
    identity=False,
)
_STORED_CORPUS = Template(
    "rollups.stored_corpus",
    "SELECT sum(docs) AS docs, sum(length) AS length FROM loom.corpus_stats WHERE /*scope*/ AND plane = 'embed'",
    identity=False,
)
_OTHER_MODELS = Template(
    "rollups.other_models",
    """
    SELECT count() AS rows FROM loom.memory_embeddings
    WHERE /*scope*/ AND model != {model:String} AND live = 1
    """,
)
_START = ("", "", "", "", 0)


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """The live embedder as far as counting needs it: the name of its model, and its tokens of a text."""

    model: str
    tokens: Callable[[str], Sequence[str]]


@dataclass(slots=True)
class EmbedCounts:
    """The embedder's tokens of some rows, counted."""

    docs: int = 0
    df: Counter[str] = field(default_factory=Counter[str])
    cf: Counter[str] = field(default_factory=Counter[str])

    def add(self, tokens: Sequence[str]) -> None:
        """Count one row."""
        self.docs += 1
        self.cf.update(tokens)
        self.df.update(set(tokens))

    def remove(self, tokens: Sequence[str]) -> None:
        """Count one row no longer."""
        self.docs -= 1
        self.cf.subtract(tokens)
        self.df.subtract(set(tokens))


def drift(store: Store, scope: Scope, tokenizer: Tokenizer, deadline: Deadline | None = None) -> list[CommitDelta]:
    """What the namespace's roll-ups lack, of either sign; empty where they are right."""
    found = [_fact_drift(store, scope, deadline)]
    if countable(store, scope, tokenizer, deadline):
        found.append(_embed_drift(store, scope, tokenizer, deadline))
    return [delta for delta in found if delta.docs or delta.length or delta.df or delta.cf]


def countable(store: Store, scope: Scope, tokenizer: Tokenizer, deadline: Deadline | None = None) -> bool:
    """Whether all live vectors of the namespace are of the live model."""
    return not store.query(_OTHER_MODELS.bind(scope, {"model": tokenizer.model}), deadline).column("rows")[0]


def mend(store: Store, scope: Scope, tokenizer: Tokenizer) -> list[CommitDelta]:
    """Add what is lacking. The caller forgets what it keeps of the namespace's statistics."""
    lacking = drift(store, scope, tokenizer)
    for insert in roll_ups(lacking):
        store.insert(insert)
    return lacking


def _fact_drift(store: Store, scope: Scope, deadline: Deadline | None) -> CommitDelta:
    rows = cast("list[tuple[str, int, int]]", store.query(_FACT_TOKENS.bind(scope), deadline).rows())
    docs, length = cast("tuple[int, int]", store.query(_FACT_CORPUS.bind(scope), deadline).rows()[0])
    df = {token: df for token, df, _ in rows}
    return CommitDelta(scope.org, scope.namespace, FACT, docs, length, df, {token: cf for token, _, cf in rows})


def _embed_drift(store: Store, scope: Scope, tokenizer: Tokenizer, deadline: Deadline | None) -> CommitDelta:
    counts = EmbedCounts()
    for content in _contents(store, scope, tokenizer.model, deadline):
        counts.add(tokenizer.tokens(content))
    return embed_lacking(store, scope, counts, deadline)


def embed_lacking(store: Store, scope: Scope, counts: EmbedCounts, deadline: Deadline | None = None) -> CommitDelta:
    """What the stored embed plane lacks of `counts`."""
    df, cf = counts.df.copy(), counts.cf.copy()
    stored = store.query(_STORED_TOKENS.bind(scope), deadline).rows()
    for token, stored_df, stored_cf in cast("list[tuple[str, int, int]]", stored):
        df[token] -= stored_df
        cf[token] -= stored_cf
    counted = store.query(_STORED_CORPUS.bind(scope), deadline).rows()[0]
    stored_docs, stored_length = cast("tuple[int, int]", counted)
    lacking = {token for token in df.keys() | cf.keys() if df[token] or cf[token]}
    return CommitDelta(
        scope.org,
        scope.namespace,
        EMBED,
        counts.docs - stored_docs,
        counts.cf.total() - stored_length,
        {token: df[token] for token in lacking},
        {token: cf[token] for token in lacking},
    )


def _contents(store: Store, scope: Scope, model: str, deadline: Deadline | None) -> Iterator[str]:
    """The contents of the live rows that have a vector of the model, in key order."""
    names = ("agent", "user", "session", "memory_key", "version")
    after: tuple[object, ...] = _START
    while True:
        parameters = {**dict(zip(names, after, strict=True)), "model": model, "limit": PAGE}
        rows = store.query(_CONTENTS.bind(scope, parameters), deadline).rows()
        yield from (str(row[5]) for row in rows)
        if len(rows) < PAGE:
            return
        after = rows[-1][:5]
