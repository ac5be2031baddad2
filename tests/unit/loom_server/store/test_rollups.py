"""Roll-ups against a rebuild, on counts that were made wrong on purpose."""

from __future__ import annotations

from collections import Counter

import pytest

from loom_server.embed.choose import make_embedder
from loom_server.embed.hashed import HashedEmbedder
from loom_server.model.scope import Scope
from loom_server.settings import Settings
from loom_server.store import rollups as module
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.rollups import Tokenizer, countable, drift, mend
from loom_server.store.statistics import EMBED, FACT, CommitDelta, roll_ups
from writing import NAMESPACE, a_draft, a_key, delete, roll_ups_of, settle, write, writing

STATIC = make_embedder(Settings(embedder="static"))
TOKENIZER = Tokenizer(STATIC.identity.name, STATIC.tokens)
TEXTS = ("red red fox", "blue fox", "a hen")


def written(store: EmbeddedStore, org: str) -> Scope:
    """Three live rows, and before them one that was superseded and one that was deleted."""
    with writing(store, STATIC) as writer:
        write(writer, a_draft(org, "k0", text="old words"), a_draft(org, "gone", text="gone words"))
        write(writer, *(a_draft(org, f"k{index}", text=text) for index, text in enumerate(TEXTS)))
        delete(writer, a_key(org, "gone"))
        settle(writer)
    return Scope(org, NAMESPACE)


def test_finished_writes_leave_no_drift(store: EmbeddedStore, org: str) -> None:
    assert drift(store, written(store, org), TOKENIZER) == []


def test_drift_is_what_is_lacking(store: EmbeddedStore, org: str) -> None:
    scope = written(store, org)
    wrong = [
        CommitDelta(org, NAMESPACE, FACT, 2, 7, {"fox": 1, "ghost": 3}, {"fox": 1, "ghost": 4}),
        CommitDelta(org, NAMESPACE, EMBED, -1, -5, {"x": 1}, {"x": -2}),
    ]
    for insert in roll_ups(wrong):
        store.insert(insert)
    assert drift(store, scope, TOKENIZER) == [delta.negated() for delta in wrong]


def test_mend_makes_them_equal_and_then_there_is_nothing_to_mend(store: EmbeddedStore, org: str) -> None:
    scope = written(store, org)
    right = roll_ups_of(store, org)
    for insert in roll_ups([CommitDelta(org, NAMESPACE, FACT, 1, 1, {"fox": 1}, {"fox": 1})]):
        store.insert(insert)
    assert len(mend(store, scope, TOKENIZER)) == 1
    assert roll_ups_of(store, org) == right
    assert mend(store, scope, TOKENIZER) == []


def test_roll_ups_that_are_all_missing_are_rebuilt_page_by_page(
    store: EmbeddedStore, org: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = written(store, org)
    tokens, corpus = roll_ups_of(store, org)
    lost = [
        CommitDelta(
            org,
            NAMESPACE,
            plane,
            docs,
            length,
            {token: df for _, one, token, df, _ in tokens if one == plane},
            {token: cf for _, one, token, _, cf in tokens if one == plane},
        ).negated()
        for _, plane, docs, length in corpus
    ]
    for insert in roll_ups(lost):
        store.insert(insert)
    assert roll_ups_of(store, org) == ([], [])
    monkeypatch.setattr(module, "PAGE", 2)
    mend(store, scope, TOKENIZER)
    assert roll_ups_of(store, org) == (tokens, corpus)


def test_worked_numbers(store: EmbeddedStore, org: str) -> None:
    written(store, org)
    tokens, corpus = roll_ups_of(store, org)
    counts = {(plane, token): (df, cf) for _, plane, token, df, cf in tokens}
    assert (counts[FACT, "red"], counts[FACT, "fox"], counts[FACT, "s:a"]) == ((1, 2), (2, 2), (1, 1))
    embedded = Counter(token for text in TEXTS for token in STATIC.tokens(text))
    assert {token: counts[EMBED, token][1] for token in embedded} == dict(embedded)
    assert corpus == [(NAMESPACE, EMBED, 3, embedded.total()), (NAMESPACE, FACT, 3, 6)]


def test_vectors_of_another_model_are_not_counted(store: EmbeddedStore, org: str) -> None:
    scope = written(store, org)
    other = HashedEmbedder(dimension=64)
    stranger = Tokenizer(other.identity.name, other.tokens)
    assert countable(store, scope, TOKENIZER)
    assert not countable(store, scope, stranger)
    assert drift(store, scope, stranger) == []


def test_another_namespace_is_not_looked_at(store: EmbeddedStore, org: str) -> None:
    written(store, org)
    for insert in roll_ups([CommitDelta(org, "other", FACT, 1, 1, {"fox": 1}, {"fox": 1})]):
        store.insert(insert)
    assert drift(store, Scope(org, NAMESPACE), TOKENIZER) == []
    assert len(drift(store, Scope(org, "other"), TOKENIZER)) == 1
