"""Made-up rows whose words are as unequal as those of a language, and namespaces of any size from them.

A vocabulary of 50,000 words, drawn by a Zipf-Mandelbrot law: the commonest is one word in eight, half of a
text are words that stand in every other text, and most words stand in a few. A question takes six words of
a row, the sixty commonest left out, as a question of a person leaves out the words of every sentence.
Everything follows from the seed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate

from loom_client import wire
from loom_server.model.deadline import Deadline
from loom_server.service.services import Services
from loom_server.store.statement import Template
from loom_server.store.store import Statement

SYLLABLES = ("ka", "ro", "mi", "ten", "sol", "ver", "da", "lin", "po", "gra", "shu", "ne", "bor", "tis", "um", "fe")
WORDS = 50_000
COMMONEST = 60
BATCH = 1_000
IDS_APART = 10**12
"""Further than any two ids of one load lie apart, so that copies have ids of their own."""

_COUNT = Template("bench.count", "SELECT count() AS rows FROM loom.memory WHERE /*scope*/")
_TABLES = ("memory", "memory_embeddings", "postings", "token_df", "corpus_stats")


def vocabulary(seed: int = 7) -> list[str]:
    """The words, commonest first."""
    draw = random.Random(seed)
    words = ["".join(draw.choices(SYLLABLES, k=draw.randint(2, 4))) for _ in range(WORDS * 3)]
    return list(dict.fromkeys(words))[:WORDS]


def texts(count: int, seed: int = 7) -> list[str]:
    """Sentences of 12 to 30 words."""
    words = vocabulary()
    weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(words))))
    draw = random.Random(seed)
    return [" ".join(draw.choices(words, cum_weights=weights, k=draw.randint(12, 30))) for _ in range(count)]


def questions(rows: Sequence[str], count: int, seed: int = 11) -> list[str]:
    """Six words each, of one row."""
    usual = frozenset(vocabulary()[:COMMONEST])
    draw = random.Random(seed)
    found: list[str] = []
    while len(found) < count:
        words = [word for word in draw.choice(rows).split() if word not in usual]
        if len(words) >= 6:
            found.append(" ".join(draw.sample(words, 6)))
    return found


def write(services: Services, namespace: str, rows: Sequence[str]) -> None:
    """Store the rows through the service."""
    for start in range(0, len(rows), BATCH):
        part = rows[start : start + BATCH]
        items = [{"memory_key": f"note/{start + place}", "value": text} for place, text in enumerate(part)]
        body = {"namespace": namespace, "items": items}
        services.set_many(wire.MemorySetManyRequest.model_validate(body), Deadline(300))


def copy(services: Services, source: str, target: str, times: int) -> None:
    """Fill `target` with `times` copies of the rows of `source`, under keys and ids of their own."""
    store = services.searcher.store
    for table in _TABLES:
        found = store.query(
            Statement(
                "bench.columns",
                "SELECT name FROM system.columns WHERE database = 'loom' AND table = {table:String}"
                " AND default_kind != 'MATERIALIZED'",
                {"table": table},
            )
        )
        columns = [str(name) for name in found.column("name")]
        picked = {
            "namespace": "{target:String} AS namespace",
            "id": f"id + (copy + 1) * {IDS_APART} AS id",
            "memory_key": "concat(memory_key, '/', toString(copy)) AS memory_key",
        }
        for number in range(times):
            store.command(
                Statement(
                    "bench.copy",
                    f"INSERT INTO loom.{table} ({', '.join(columns)})"
                    f" SELECT {', '.join(picked.get(name, name) for name in columns)} FROM loom.{table} AS source"
                    " CROSS JOIN (SELECT {number:UInt64} AS copy) AS copies WHERE source.namespace = {source:String}",
                    {"target": target, "source": source, "number": number},
                )
            )
    services.searcher.statistics.forget([("dev", target)])
