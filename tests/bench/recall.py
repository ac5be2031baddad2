"""Recall of the codes-first scan against the exact one, on the vectors of real sentences.

    python tests/bench/recall.py DATA_DIR [--embedder static] [--most 120000] [--questions 300] [--json FILE]

DATA_DIR holds judged sets in BEIR's form. Every passage is cut into sentences, each of which is a row with a
vector; the questions are those of the sets. Both scans are the fact leg's own statements, and the shares are of
the exact scan's rows.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from loom_server.embed.choose import make_embedder
from loom_server.evaluation.measures import percentile
from loom_server.legs.base import LegContext
from loom_server.legs.fact import FactLeg
from loom_server.model.deadline import Deadline
from loom_server.model.plan import LegPlan, Plan, ScanForm
from loom_server.model.query import Query, SearchRequest
from loom_server.model.scope import Scope
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.migrate import migrate
from loom_server.store.store import Insert
from table import Figures, timed

SCOPE = Scope("dev", "bench")
SENTENCE = re.compile(r"(?<=[.!?])\s+")
SHORTEST = 20
BATCH = 5_000
PLAN = Plan("semantic", (), 200, 10, 0.5, 60, 1.0, -1.0, 0.0, "readmit", 1, 200)


def lines(file: Path) -> Iterator[str]:
    """The text of each line."""
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        for line in opened:
            yield json.loads(line)["text"]


def sentences(data: Path, most: int) -> list[str]:
    """Distinct sentences of every set, and pairs of neighbours, in the order of the sets' names."""
    found: dict[str, None] = {}
    for file in sorted(data.glob("*/corpus.jsonl.gz")):
        for text in lines(file):
            parts = [part for part in SENTENCE.split(text) if len(part) > SHORTEST]
            found.update(dict.fromkeys(parts))
            found.update(dict.fromkeys(" ".join(pair) for pair in zip(parts[::2], parts[1::2], strict=False)))
    return list(found)[:most]


def insert(store: EmbeddedStore, first: int, vectors: np.ndarray, model: str) -> None:
    rows = len(vectors)
    texts = ("agent", "user_id", "session_id", "run_id", "memory_key")
    columns = ("org", "namespace", "model", "id", *texts, "live", "vector")
    names = ([SCOPE.org] * rows, [SCOPE.namespace] * rows, [model] * rows, range(first, first + rows))
    store.insert(Insert("memory_embeddings", columns, (*names, *[[""] * rows] * len(texts), [1] * rows, vectors)))


def context(store: EmbeddedStore, vector: np.ndarray, model: str, rows: int) -> LegContext:
    query = Query("", (), vector, rows, 10.0)
    return LegContext(SearchRequest("", SCOPE), query, PLAN, store, Deadline(600), model)


def nearest(asked: LegContext, form: ScanForm, quota: int) -> tuple[int, ...]:
    (result,) = FactLeg().run(asked, (LegPlan("fact", quota, form=form),))
    return result.ids


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--most", type=int, default=120_000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    options = parser.parse_args()
    embedder = make_embedder(Settings(embedder=options.embedder, embed_cache_size=0))
    rows, model = sentences(options.data, options.most), embedder.identity.name
    asked = [text for file in sorted(options.data.glob("*/queries.jsonl.gz")) for text in lines(file)]
    asked = asked[:: max(1, len(asked) // options.questions)][: options.questions]
    figures = Figures()
    with tempfile.TemporaryDirectory() as folder:
        store = EmbeddedStore(Path(folder))
        migrate(store)
        for start in range(0, len(rows), BATCH):
            insert(store, start + 1, embedder.passages(rows[start : start + BATCH]), model)
        figures.head(f"{len(rows):,} sentences, {len(asked)} questions, {model}")
        contexts = [context(store, embedder.query(text), model, len(rows)) for text in asked]
        for form in ("exact", "codes"):
            figures.times(f"the leg, {form}", [timed(lambda c=c, f=form: nearest(c, f, 100), 1)[0] for c in contexts])
        print()
        for depth in (10, 100):
            shares = [_share(one, depth) for one in contexts]
            figures.figure(f"recall@{depth} of the codes, of a hundred", 100 * float(np.mean(shares)), "")
            figures.figure(f"recall@{depth}, the worst question in a hundred", 100 * percentile(shares, 0.01), "")
        store.close()
    figures.save(options.json)


def _share(asked: LegContext, depth: int) -> float:
    exact = nearest(asked, "exact", 100)[:depth]
    return len(set(exact) & set(nearest(asked, "codes", 100)[:depth])) / len(exact)


if __name__ == "__main__":
    main()
