"""A process that ends the move of vectors which the one before left, judges it, and is killed in a move of its own.

    python kill_reembed.py DIRECTORY FROM TO                     finish under FROM, look, move to TO, a clean close
    python kill_reembed.py DIRECTORY FROM TO NAME NUMBER WHEN    die before or after a statement of the move

FROM and TO are `hash` or `static`. One JSON line a fact goes to standard output: `found` (what is wrong once FROM's
move is finished: nothing, one hopes) and at the end `asked` (the statements of the move, in order).
"""

from __future__ import annotations

import sys
from pathlib import Path

from kill_writer import DeadlyStore, die, say
from loom_server.embed.base import Embedder
from loom_server.embed.hashed import HashedEmbedder
from loom_server.embed.static import StaticEmbedder
from loom_server.keep import reembed
from loom_server.keep.lacking import lacking, namespaces_of
from loom_server.keep.sweep import sweep
from loom_server.model.scope import Scope
from loom_server.observe import logs
from loom_server.service.services import Services
from loom_server.store import vectors
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.migrate import migrate
from loom_server.store.namespaces import Namespaces
from loom_server.store.store import Store
from moving import ask, ended, models_of, move, served_by, twice, wrong_flags
from spaces import Space
from writing import settle, sound

ORG, OTHER = "acme", "other"
EMBEDDERS: dict[str, Embedder] = {"hash": HashedEmbedder(dimension=64), "static": StaticEmbedder(256)}
OTHERS = HashedEmbedder(dimension=32)


def look(store: Store, embedder: Embedder) -> list[str]:
    """Everything that is wrong with the org, once its move is finished, and with the one that nobody moved."""
    model = embedder.identity.name
    wrong: list[str] = []
    if set(models_of(store, ORG)) != {model}:
        wrong.append(f"vectors of {models_of(store, ORG)}")
    if models_of(store, OTHER) != {OTHERS.identity.name: 2} or not sound(store, OTHER, OTHERS):
        wrong.append(f"the other org holds {models_of(store, OTHER)}")
    wrong += [f"twice: {row}" for row in twice(store, ORG)]
    wrong += [f"flag of {row}" for row in wrong_flags(store, ORG)]
    for name in namespaces_of(store, ORG):
        wrong += [f"no vector: {row}" for row in vectors.missing(store, Scope(ORG, name), model).tolist()]
    if not sound(store, ORG, embedder):
        wrong.append("rows or roll-ups are not sound")
    if lacking(store, model, ORG).orgs or Namespaces(store).model_of(ORG) != model:
        wrong.append(f"held to {Namespaces(store).model_of(ORG)}")
    return wrong


def begin(store: Store, embedder: Embedder) -> None:
    """The first rows, and the org that is never moved. Without stems, whose library takes seconds to import."""
    with served_by(store, OTHERS) as services:
        space = Space(services, OTHER)
        space.prefer(language="und")
        space.fill({"a": "a quiet owl", "b": "two quiet owls"})
    with served_by(store, embedder) as services:
        space = Space(services, ORG)
        space.prefer(language="und")
        space.other(namespace="second").prefer(language="und")
        space.set("z", "the first zebra")


def finish(store: Store, embedder: Embedder) -> None:
    """End the move that was begun, and write some more: new keys, new versions, an end."""
    with served_by(store, embedder) as services:
        move(services, ORG)
        settle(services.writer)
        say("found", wrong=look(store, embedder))
        space = Space(services, ORG)
        space.fill({"a": "the red fox", "b": "a hen on Mondays", "c": "the cow"})
        space.set("a", f"the blue fox number {space.get('a').version}")
        space.delete("c")
        space.other(namespace="second").set("d", "a mule")
        settle(services.writer)


def write_under(services: Services) -> None:
    """Rows that are stored without a vector, since the org is held to another model."""
    assert Space(services, ORG).set("e", "a late snail").degraded == ("embed: model_mismatch",)
    Space(services, ORG).delete("e")
    Space(services, ORG).set("f", "another snail")
    settle(services.writer)


def main(directory: str, before: str, after: str, *rest: str) -> None:
    logs.configure(level="warning")
    reembed.BATCH_ROWS = 3
    store = EmbeddedStore(Path(directory), clients=5)
    migrate(store)
    if not store.was_clean and sweep(store, EMBEDDERS[before]).whole:
        store.settle()
    if not models_of(store, OTHER):
        begin(store, EMBEDDERS[before])
    finish(store, EMBEDDERS[before])
    name, number, when = rest or ("", "0", "")
    point = (name, int(number), when == "after")
    deadly = DeadlyStore(store, lambda asked, _, occurrence, done: (asked, occurrence, done) == point, armed=False)
    with served_by(deadly, EMBEDDERS[after]) as services:
        write_under(services)
        deadly.armed = True
        ask(services, "start", ORG)
        assert ended(services).state == "done"
        deadly.armed = False
        say("asked", names=list(deadly.asked))
        if rest:
            die()
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
