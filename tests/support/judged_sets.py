"""Small judged sets of our own, one in each shape, and runs made of plain numbers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loom_server.evaluation.questions import Asked, Half, Kind
from loom_server.evaluation.runfile import SCHEMA, About, Answer, Row, Run, SetRun

TEXTS = {
    "heron": ("harbour", "The heron nests on the old pier above the harbour."),
    "ferry": ("harbour", "The ferry to the island leaves at seven every morning."),
    "crane": ("harbour", "A rusty crane lifts containers from the cargo ship."),
    "lamp": ("harbour", "The lighthouse lamp was replaced with a brighter bulb in March."),
    "net": ("harbour", "Fishermen mend their nets beside the customs house."),
    "tide": ("harbour", "High tide floods the lower quay twice a month."),
    "loaf": ("bakery", "Sourdough loaves rest overnight in the cold room."),
    "oven": ("bakery", "The brick oven is heated with beech wood to 260 degrees."),
    "salt": ("bakery", "Marta orders sea salt from the mill in the valley."),
    "cake": ("bakery", "Plum cake is baked on Saturdays in autumn only."),
    "till": ("bakery", "The till is counted by Jonas after closing time."),
    "rye": ("bakery", "Rye flour is kept apart because it draws moisture."),
}
"""Key -> namespace and text."""

QUESTIONS = {
    "q1": ("harbour", "Where does the heron nest?", {"heron": 2}),
    "q2": ("harbour", "When does the ferry to the island leave?", {"ferry": 1}),
    "q3": ("harbour", "What was replaced at the lighthouse?", {"lamp": 1}),
    "q4": ("bakery", "Which wood heats the brick oven?", {"oven": 1}),
    "q5": ("bakery", "Who counts the till after closing time?", {"till": 1, "cake": 1}),
    "q6": ("bakery", "On which days is plum cake baked?", {"cake": 1}),
}
UNANSWERABLE = {
    "n1": ("harbour", "Who painted the submarine?", ["crane"]),
    "n2": ("bakery", "What does croissant butter cost?", []),
}

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ana",
            "session_2": [
                {"speaker": "Ben", "dia_id": "D2:1", "text": "I sold the boat.", "blip_caption": "a white boat"}
            ],
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "I adopted a grey cat."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "I bought a boat."},
            ],
            "session_1_date_time": "1 May 2023",
        },
        "qa": [
            {"question": "What did Ana adopt?", "answer": "a cat", "evidence": ["D1:1"], "category": 4},
            {"question": "What happened to the boat?", "evidence": ["D1:2; D2:1", "D:1:02"], "category": 1},
            {"question": "What does nobody say?", "evidence": ["D9:9"], "category": 2},
            {"question": "What did Ben adopt?", "adversarial_answer": "a cat", "evidence": ["D1:1"], "category": 5},
        ],
    }
]

LONGMEMEVAL: list[dict[str, Any]] = [
    {
        "question_id": "a1",
        "question_type": "single-session-user",
        "question": "How fast did I run?",
        "question_date": "2023/06/01",
        "answer": "25 minutes",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I ran 5K in 25 minutes.", "has_answer": True},
                {"role": "assistant", "content": "Well done."},
            ],
            [{"role": "user", "content": "I like soup."}],
        ],
        "answer_session_ids": ["s1"],
    },
    {
        "question_id": "a2_abs",
        "question_type": "knowledge-update",
        "question": "What is my hamster called?",
        "haystack_session_ids": ["s3"],
        "haystack_sessions": [[{"role": "user", "content": "My cat is Luna.", "has_answer": True}]],
        "answer_session_ids": ["s3"],
    },
    {
        "question_id": "a3",
        "question_type": "multi-session",
        "question": "Which turn is marked?",
        "haystack_session_ids": ["s4"],
        "haystack_sessions": [[{"role": "user", "content": "None of these."}]],
        "answer_session_ids": ["s4"],
    },
]  # fmt: skip


def write_beir(folder: Path, *, zipped: bool = False, head: bool = True, nested: bool = False) -> Path:
    """The set as a folder in BEIR's form."""
    folder.mkdir(parents=True, exist_ok=True)
    corpus = [
        {"_id": key, "title": "", "text": text, "metadata": {"conversation": space}}
        for key, (space, text) in TEXTS.items()
    ]
    asked = {**{name: one[:2] for name, one in QUESTIONS.items()}, "stray": ("bakery", "Nobody judged this?")}
    queries = [
        {"_id": name, "text": text, "metadata": {"conversation": space}} for name, (space, text) in asked.items()
    ]
    abstain = [
        {"_id": name, "text": text, "metadata": {"conversation": space, "category": "made up"}}
        for name, (space, text, _) in UNANSWERABLE.items()
    ]
    write_lines(folder / "corpus.jsonl", corpus, zipped)
    write_lines(folder / "queries.jsonl", queries, zipped)
    write_lines(folder / "queries_abstain.jsonl", abstain, zipped)
    judged = [f"{name}\t{key}\t{grade}" for name, (_, _, keys) in QUESTIONS.items() for key, grade in keys.items()]
    rows = [*(["query-id\tcorpus-id\tscore"] if head else []), *judged, "q1\tcrane\t0"]
    qrels = folder / "qrels" / "test.tsv" if nested else folder / "qrels.tsv"
    qrels.parent.mkdir(exist_ok=True)
    qrels.write_text("\n".join(rows) + "\n", encoding="utf-8")
    near = [f"{name}\t{key}\t1" for name, (_, _, keys) in UNANSWERABLE.items() for key in keys]
    (folder / "qrels_abstain.tsv").write_text("\n".join(near) + "\n", encoding="utf-8")
    return folder


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]], zipped: bool = False) -> Path:
    """A JSONL file, gzipped as `.gz` where asked."""
    body = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    path = path.with_name(f"{path.name}.gz") if zipped else path
    path.write_bytes(gzip.compress(body) if zipped else body)
    return path


def asked(
    name: str, relevant: Mapping[str, int], half: Half = "dev", kind: Kind = "answerable", category: str = ""
) -> Asked:
    """A question of a made-up run."""
    return Asked(name, kind, half, "all", relevant, category)


def answer(name: str, keys: str, *, abstain: bool | None = False, confidence: float = 0.5, ms: float = 1.0) -> Answer:
    """An answer whose keys are single letters."""
    return Answer(name, tuple(keys), tuple(float(-place) for place in range(len(keys))), ms, abstain, None, confidence)


def a_set(name: str, questions: Sequence[Asked], rows: Mapping[Any, Sequence[Answer]], data: str = "d" * 64) -> SetRun:
    """A made-up set, rows by label and floor; a mode that begins with `oracle:` is the oracle's."""
    made = tuple(
        Row("oracle" if label.startswith("oracle:") else "loom", label.removeprefix("oracle:"), floor, tuple(some))
        for (label, floor), some in rows.items()
    )
    return SetRun(name, "beir", data, 3, ("1 question left out",), 0.5, tuple(questions), made)


def a_run(*sets: SetRun, command: str = "loom eval run DATA") -> Run:
    """A made-up run."""
    about = About(
        command, "2026-01-02T03:04:05+00:00", "2 x chip", "0.1", "engine 1", "3.11", "model:1", {}, None, 200, 1, 0
    )
    return Run(SCHEMA, about, tuple(sets))
