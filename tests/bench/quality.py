"""Each mode of the service beside its plain oracle, on judged sets.

    python tests/bench/quality.py DATA_DIR [--sets locomo scifact] [--limit N] [--json FILE]

DATA_DIR holds BEIR-style folders (corpus.jsonl.gz, queries.jsonl.gz, qrels.tsv). A LoCoMo
conversation is a namespace of its own; any other set is one namespace. Nothing is tuned here.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
import platform
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from loom_client import wire
from loom_server.embed.choose import make_embedder
from loom_server.model.deadline import Deadline
from loom_server.service.open import open_services
from loom_server.service.services import Services
from loom_server.settings import Settings
from oracle import Oracle, Question, ndcg, recall, reciprocal

MODES = ("bm25", "vector", "rrf", "hybrid", "bm25_hybrid", "lexical", "semantic", "default")
BM25_ALONE: dict[str, object] = {"search_mode": "bm25_hybrid", "leg_weights": {"fact": 0}}
REQUESTS: dict[str, dict[str, object]] = {
    "bm25": BM25_ALONE,
    "vector": {"search_mode": "semantic", "legs": ["fact"]},
    "rrf": {"search_mode": "rrf"},
    "hybrid": {"search_mode": "hybrid"},
    "bm25_hybrid": {"search_mode": "bm25_hybrid"},
    "lexical": {"search_mode": "lexical"},
    "semantic": {"search_mode": "semantic"},
    "default": {},
}


@dataclass(slots=True)
class Space:
    """One namespace: its rows and its judged questions."""

    name: str
    keys: list[str] = field(default_factory=list[str])
    texts: list[str] = field(default_factory=list[str])
    questions: list[tuple[str, dict[str, float]]] = field(default_factory=list[tuple[str, dict[str, float]]])


def lines(path: Path) -> Iterator[dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def load(folder: Path, limit: int | None) -> list[Space]:
    """The set as namespaces, questions with at least one judged row only."""
    relevant: dict[str, dict[str, float]] = {}
    with (folder / "qrels.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if float(row["score"]) > 0:
                relevant.setdefault(row["query-id"], {})[row["corpus-id"]] = float(row["score"])
    spaces: dict[str, Space] = {}

    def space(row: dict[str, object]) -> Space:
        metadata = row.get("metadata")
        name = str(metadata.get("conversation", "all")) if isinstance(metadata, dict) else "all"
        return spaces.setdefault(name, Space(name))

    for row in lines(folder / "corpus.jsonl.gz"):
        one = space(row)
        one.keys.append(str(row["_id"]))
        one.texts.append(f"{row['title']} {row['text']}".strip())
    for row in list(lines(folder / "queries.jsonl.gz"))[:limit]:
        if judged := relevant.get(str(row["_id"])):
            space(row).questions.append((str(row["text"]), judged))
    return list(spaces.values())


def data_hash(folder: Path) -> str:
    """The first 12 digits of the SHA-256 over the corpus, the queries and the judgments."""
    digest = hashlib.sha256()
    for name in ("corpus.jsonl.gz", "queries.jsonl.gz", "qrels.tsv"):
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()[:12]


def fill(services: Services, namespace: str, space: Space) -> None:
    """Write the namespace's rows."""
    pairs = list(zip(space.keys, space.texts, strict=True))
    for start in range(0, len(pairs), 500):
        items = [{"memory_key": key, "value": text} for key, text in pairs[start : start + 500]]
        request = wire.MemorySetManyRequest.model_validate({"namespace": namespace, "items": items})
        services.set_many(request, Deadline(120))


def plain(oracle: Oracle, question: Question) -> dict[str, list[str]]:
    """The oracle's order for each row of the table that has one."""
    by_bm25 = oracle.order(question.bm25, positive=True)
    by_lexical = oracle.order(question.lexical, question.cosine, positive=True)
    by_cosine = oracle.order(question.cosine, question.lexical)
    return {
        "bm25": by_bm25,
        "vector": by_cosine,
        "semantic": by_cosine,
        "lexical": oracle.order(question.lexical, question.bm25, positive=True),
        "rrf": reciprocal(oracle, [by_lexical, by_cosine], question.lexical),
        "hybrid": oracle.order(0.5 * question.lexical + 0.5 * question.cosine),
        "bm25_hybrid": oracle.order(0.5 * question.bm25 + 0.5 * question.cosine),
    }


def measure(services: Services, name: str, spaces: Iterable[Space], modes: list[str]) -> dict[str, dict[str, float]]:
    """nDCG@10 and recall@10 of each mode and of its oracle, averaged over the questions."""
    embedder = make_embedder(Settings())
    totals: dict[str, list[float]] = {mode: [0.0] * 5 for mode in modes}
    asked = 0
    for space in spaces:
        namespace = f"{name}-{space.name}"
        fill(services, namespace, space)
        oracle = Oracle(space.keys, space.texts, embedder)
        for text, judged in space.questions:
            asked += 1
            orders = plain(oracle, oracle.ask(text))
            for mode in modes:
                body = {"namespace": namespace, "query": text, "top_k": 10, "min_similarity": -1, **REQUESTS[mode]}
                start = perf_counter()
                answer = services.search(wire.MemorySearchRequest.model_validate(body), Deadline(60))
                took = perf_counter() - start
                got = [hit.memory_key for hit in answer.results]
                reference = orders.get(mode, [])
                row = (ndcg(got, judged), recall(got, judged), ndcg(reference, judged), recall(reference, judged), took)
                totals[mode] = [total + value for total, value in zip(totals[mode], row, strict=True)]
    names = ("ndcg", "recall", "oracle_ndcg", "oracle_recall", "seconds")
    averages: dict[str, dict[str, float]] = {
        mode: dict(zip(names, [v / asked for v in totals[mode]], strict=True)) for mode in modes
    }
    return {"questions": {"count": float(asked)}, **averages}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="+", default=["locomo", "scifact"])
    parser.add_argument("--modes", nargs="+", default=list(MODES), choices=MODES)
    parser.add_argument("--limit", type=int, help="only the first N questions of a set")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    options = parser.parse_args()
    report: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        services = open_services(Settings(data_dir=Path(folder)))
        for name in options.sets:
            source = options.data / name
            figures = measure(services, name, load(source, options.limit), options.modes)
            report[name] = {"data": data_hash(source), **figures}
            asked = int(figures.pop("questions")["count"])
            print(
                f"\n{name}: {asked} questions, data {data_hash(source)}, {platform.machine()}, Python {sys.version[:6]}"
            )
            print("| mode | nDCG@10 | recall@10 | oracle nDCG@10 | oracle recall@10 | ms a search |")
            print("|---|---|---|---|---|---|")
            for mode, row in figures.items():
                cells = [f"{row[key]:.4f}" for key in ("ndcg", "recall", "oracle_ndcg", "oracle_recall")]
                if mode == "default":
                    cells[2:] = ["", ""]
                print(f"| `{mode}` | {' | '.join(cells)} | {row['seconds'] * 1000:.1f} |", flush=True)
        services.close()
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
