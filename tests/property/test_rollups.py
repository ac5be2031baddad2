"""Random writes and deletes leave the roll-ups equal to a rebuild, and what the process keeps equal to both.

The rebuild is made here from the texts of the live rows, with the analyzer and the embedder, so that it
shares nothing with the statements that made the roll-ups.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from loom_server.analysis.analyse import index_tokens
from loom_server.embed.base import Embedder
from loom_server.embed.choose import make_embedder
from loom_server.errors import NotFound
from loom_server.ingest.memory import MemoryWriter
from loom_server.model.deadline import Deadline
from loom_server.model.memory import Draft, Key, WriteOutcome
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.statistics import EMBED, FACT, Statistics
from writing import HASH, a_draft, a_key, live_ids, roll_ups_of, sound, versions, writing

NAMESPACES = ("red", "green", "blue", "white", "black")
WORDS = tuple(
    f"{stem}{ending}" for stem in ("walk", "talk", "Cook", "err_404", "x") for ending in ("", "s", "ing", "-9")
)
PATIENCE_S = 120.0
SIZES = (1, 1, 2, 5, 20, 60, 150, 400)
SMALL = (1, 2, 5, 10, 20)


@dataclass(slots=True)
class Writes:
    """Random batches over few keys, so that most of them meet a version that is stored."""

    org: str
    keys: int
    dice: random.Random
    left: int
    sizes: Sequence[int] = SIZES
    deleting: float = 0.2
    done: Counter[str] = field(default_factory=Counter[str])

    def __iter__(self) -> Iterator[list[Draft] | list[Key]]:
        while self.left > 0:
            size = min(self.left, self.dice.choice(self.sizes))
            self.left -= size
            if self.dice.random() < self.deleting:
                yield [a_key(self.org, self._key(), self.dice.choice(NAMESPACES)) for _ in range(size)]
            else:
                yield [self._draft() for _ in range(size)]

    def _key(self) -> str:
        return f"key/{self.dice.randrange(self.keys // len(NAMESPACES))}"

    def _draft(self) -> Draft:
        text = " ".join(self.dice.choices(WORDS, k=self.dice.randint(1, 6)))
        return a_draft(self.org, self._key(), text, namespace=self.dice.choice(NAMESPACES))


def carry_out(writer: MemoryWriter, batches: Writes) -> None:
    for batch in batches:
        deadline = Deadline(PATIENCE_S)
        drafts = [one for one in batch if isinstance(one, Draft)]
        keys = [one for one in batch if isinstance(one, Key)]
        answers = writer.write(drafts, deadline) if drafts else writer.delete(keys, deadline)
        assert all(isinstance(answer, WriteOutcome | NotFound) for answer in answers), answers
        outcomes = [answer for answer in answers if isinstance(answer, WriteOutcome)]
        batches.done.update("same" if one.noop else one.status for one in outcomes)


Tokens = list[tuple[str, str, str, int, int]]
Corpus = list[tuple[str, str, int, int]]


def rebuilt(store: EmbeddedStore, org: str, embedder: Embedder) -> tuple[Tokens, Corpus]:
    """The roll-ups as the live rows' texts would have them, in the form of `roll_ups_of`."""
    df: Counter[tuple[str, str, str]] = Counter()
    cf: Counter[tuple[str, str, str]] = Counter()
    docs: Counter[tuple[str, str]] = Counter()
    length: Counter[tuple[str, str]] = Counter()
    for namespace, memory_key, content in (
        row[:3] for row in versions(store, org, "namespace, memory_key, content, status") if row[3] == "live"
    ):
        index, tokens = index_tokens(content, memory_key, "en"), embedder.tokens(content)
        for plane, counts, size in ((FACT, index.counts, index.length), (EMBED, Counter(tokens), len(tokens))):
            docs[namespace, plane] += 1
            length[namespace, plane] += size
            cf.update({(namespace, plane, token): number for token, number in counts.items()})
            df.update((namespace, plane, token) for token in counts)
    by_token: Tokens = [(*key, df[key], cf[key]) for key in df]
    by_plane: Corpus = [(*key, docs[key], length[key]) for key in docs]
    return sorted(by_token), sorted(by_plane)


def assert_statistics(statistics: Statistics, org: str, tokens: Tokens, corpus: Corpus) -> None:
    """What the process keeps says the same."""
    for namespace in NAMESPACES:
        seen = statistics.namespace(org, namespace)
        totals = {plane: (docs, length) for name, plane, docs, length in corpus if name == namespace}
        docs, length = totals.get(FACT, (0, 0))
        assert seen.documents == docs
        assert seen.average_length == (length / docs if docs else 0.0)
        assert seen.total_tokens == totals.get(EMBED, (0, 0))[1]
        words = {token: df for name, plane, token, df, _ in tokens if (name, plane) == (namespace, FACT)}
        assert seen.document_frequencies([*words, "nobody"]) == {**words, "nobody": 0}
        counts = {token: cf for name, plane, token, _, cf in tokens if (name, plane) == (namespace, EMBED)}
        assert seen.token_counts(list(counts)) == counts


@dataclass(frozen=True, slots=True)
class Storm:
    """Phases of (threads, operations) over this many keys, in batches of these sizes."""

    phases: Sequence[tuple[int, int]]
    keys: int
    sizes: Sequence[int] = SIZES


def run(store: EmbeddedStore, embedder: Embedder, org: str, storm: Storm) -> Counter[str]:
    """Carry it out, comparing after each phase; the statistics live through all of them."""
    statistics = Statistics(store)
    done: Counter[str] = Counter()
    expected: tuple[Tokens, Corpus] = ([], [])
    with writing(store, embedder, statistics) as writer:
        for number, (threads, operations) in enumerate(storm.phases):
            dice = [random.Random(1_000 * number + seed) for seed in range(threads)]
            batches = [Writes(org, storm.keys, one, operations // threads, storm.sizes) for one in dice]
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(lambda one: carry_out(writer, one), batches))
            done = sum((one.done for one in batches), done)
            expected = rebuilt(store, org, embedder)
            assert_statistics(statistics, org, *expected)
    assert roll_ups_of(store, org) == expected
    assert_statistics(Statistics(store), org, *expected)
    assert sound(store, org, embedder)
    live = {row[0] for row in versions(store, org, "id, toString(status)") if row[1] == "live"}
    assert live_ids(store, org, "postings") == live_ids(store, org, "memory_embeddings") == live
    return done


def test_ten_thousand_writes_and_deletes(store: EmbeddedStore, org: str) -> None:
    done = run(store, HASH, org, Storm([(1, 2_000), (4, 6_000), (1, 2_000)], keys=400))
    assert done["live"] + done["superseded"] > 6_000
    assert done["tombstoned"] > 500


def test_a_plane_of_the_embedder_s_tokens(store: EmbeddedStore, org: str) -> None:
    static = make_embedder(Settings(embedder="static"))
    done = run(store, static, org, Storm([(1, 400), (3, 600)], keys=50, sizes=SMALL))
    assert done["tombstoned"] > 50


@pytest.mark.parametrize("seed", range(3))
def test_one_key_that_is_written_and_deleted_by_turns(store: EmbeddedStore, org: str, seed: int) -> None:
    statistics = Statistics(store)
    with writing(store, HASH, statistics) as writer:
        carry_out(writer, Writes(org, len(NAMESPACES), random.Random(seed), 120, SMALL, deleting=0.5))
        expected = rebuilt(store, org, HASH)
        assert_statistics(statistics, org, *expected)
    assert roll_ups_of(store, org) == expected
