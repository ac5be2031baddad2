"""After a move a store answers as one that was written under the new embedder from the start."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence

import pytest

from loom_server.embed.base import Embedder
from loom_server.embed.hashed import HashedEmbedder
from loom_server.embed.static import StaticEmbedder
from loom_server.keep import reembed
from loom_server.store.embedded import EmbeddedStore
from moving import ask, ended, models_of, move, served_by, twice, wrong_flags
from spaces import Space
from writing import settle, sound

STATIC, HASH = StaticEmbedder(256), HashedEmbedder(dimension=64)
WORDS = (
    "storage",
    "team",
    "Ana",
    "deploy",
    "Tuesday",
    "PROJ-4711",
    "soup",
    "canteen",
    "fox",
    "the",
    "of",
    "leads",
    "err_404",
)
KEYS = 12
QUESTIONS = ("who leads the storage team", "PROJ-4711", "soup on Tuesday")
MODES = ("semantic", "hybrid", "bm25_hybrid")
Step = tuple[str, str, str | None]


def steps(dice: random.Random, number: int) -> list[Step]:
    """Namespace, key, and the text to write or None to delete."""
    return [
        (
            dice.choice(("local", "second")),
            f"key/{dice.randrange(KEYS)}",
            " ".join(dice.choices(WORDS, k=dice.randint(1, 8))) if dice.random() < 0.85 else None,
        )
        for _ in range(number)
    ]


def carry_out(space: Space, some: Sequence[Step]) -> None:
    for namespace, key, text in some:
        there = space.other(namespace=namespace)
        if text is None:
            there.delete(key)
        else:
            there.set(key, text)


def seen(space: Space) -> list[object]:
    """What searches answer, without what tells the two stores apart: ids and times."""
    return [
        [
            (hit.memory_key, hit.version, hit.status, pytest.approx(hit.similarity, abs=1e-6), hit.score_components)
            for hit in space.other(namespace=namespace).search(question, search_mode=mode, top_k=30, **more).results
        ]
        for namespace in ("local", "second")
        for question in QUESTIONS
        for mode in MODES
        for more in ({"explain": True}, {"include_superseded": True, "explain": True})
    ]


@pytest.mark.parametrize(("old", "new"), [(STATIC, HASH), (HASH, STATIC)], ids=["to hash", "to static"])
@pytest.mark.parametrize("seed", range(2))
def test_a_moved_store_answers_as_one_that_was_never_moved(
    store: EmbeddedStore, org: str, old: Embedder, new: Embedder, seed: int
) -> None:
    dice = random.Random(seed)
    before, meanwhile, after = steps(dice, 30), steps(dice, 6), steps(dice, 10)
    with served_by(store, old) as services:
        carry_out(Space(services, org), before)
    with served_by(store, new) as services:
        moved, never = Space(services, org), Space(services, f"{org}-never")
        carry_out(moved, meanwhile)
        move(services, org)
        carry_out(moved, after)
        carry_out(never, [*before, *meanwhile, *after])
        settle(services.writer)
        assert seen(moved) == seen(never)
        assert sound(store, org, new)
        assert models_of(store, org) == models_of(store, f"{org}-never")


def test_writers_do_not_disturb_a_move_nor_a_move_them(
    store: EmbeddedStore, org: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembed, "BATCH_ROWS", 5)
    monkeypatch.setattr(reembed, "LAST_ROWS", 3)
    with served_by(store, HASH) as services:
        carry_out(Space(services, org), steps(random.Random(1), 60))
    over = threading.Event()

    def write(space: Space, seed: int) -> None:
        dice = random.Random(seed)
        while not over.is_set():
            carry_out(space, steps(dice, 1))

    with served_by(store, STATIC) as services:
        space = Space(services, org)
        writers = [threading.Thread(target=write, args=(space, seed)) for seed in (2, 3, 4)]
        for writer in writers:
            writer.start()
        ask(services, "start", org)
        answer = ended(services)
        carry_out(space, steps(random.Random(5), 3))
        over.set()
        for writer in writers:
            writer.join(30)
        settle(services.writer)
        assert answer.state == "done", answer
        assert space.search("storage team").degraded == ()
        assert set(models_of(store, org)) == {STATIC.identity.name}
        assert (twice(store, org), wrong_flags(store, org)) == ([], [])
        assert ask(services, "plan", org).rows_left == 0
        assert sound(store, org, STATIC)
