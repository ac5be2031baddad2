"""The embed plane counted while rows come and go is that of the rows that are there at the end."""

from __future__ import annotations

from collections.abc import Sequence

from loom_server.embed.static import StaticEmbedder
from loom_server.model.scope import Scope
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.recount import count, settle
from loom_server.store.rollups import Tokenizer, mend
from loom_server.store.statistics import roll_ups
from writing import NAMESPACE, a_draft, a_key, damage, delete, roll_ups_of, write, writing
from writing import settle as paid

STATIC = StaticEmbedder(256)
TOKENIZER = Tokenizer(STATIC.identity.name, STATIC.tokens)


def embed_plane(store: EmbeddedStore, org: str) -> list[Sequence[object]]:
    return [row for rows in roll_ups_of(store, org) for row in rows if row[1] == "embed"]


def test_a_count_is_brought_up_to_the_moment_of_its_end(store: EmbeddedStore, org: str) -> None:
    scope = Scope(org, NAMESPACE)
    with writing(store, STATIC) as writer:
        write(writer, *(a_draft(org, f"k{number}", f"the red fox {number}") for number in range(3)))
        paid(writer)
        damage(store, "DELETE FROM loom.token_df WHERE org = {org:String} AND plane = 'embed'", org=org)
        counted = count(store, scope, TOKENIZER)
        assert (len(counted.ids), counted.counts.docs) == (3, 3)
        write(writer, a_draft(org, "k0", "a blue hen"), a_draft(org, "new", "one more fox"))
        delete(writer, a_key(org, "k1"))
        paid(writer)
        lacking = settle(store, scope, TOKENIZER, counted)
        for insert in roll_ups([lacking]):
            store.insert(insert)
    docs = {row[0:3]: row[3:] for row in embed_plane(store, org) if len(row) == 4}
    tokens = sum(len(STATIC.tokens(text)) for text in ("a blue hen", "one more fox", "the red fox 2"))
    assert list(docs.values()) == [(tokens,)]
    assert [row[2] for row in embed_plane(store, org) if len(row) == 4] == [3]
    assert mend(store, scope, TOKENIZER) == []
