"""A folder in BEIR's form, with what the sets of conversations add to it.

    corpus.jsonl[.gz]            {_id, title?, text, metadata?}
    queries.jsonl[.gz]           {_id, text, metadata?}
    qrels.tsv | qrels/test.tsv   query, document, grade; with or without a head, or TREC's four columns
    queries_abstain.jsonl[.gz]   optional: questions that nothing answers
    qrels_abstain.tsv            optional: the documents that look like their answers

`metadata.conversation` of a document is its namespace; without one all documents share a namespace. A
question is asked in `metadata.conversation`, else in the namespace of its own id, else where its judged
documents lie. Grades of 0 or less are no answer. `metadata.category` or `.type` is the question's category.

Limits: questions without a judged document are left out and counted, as trec_eval leaves them out. A
judged document that the corpus lacks stays in the judgments, so it costs recall.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from loom_server.errors import InvalidInput
from loom_server.evaluation.datasets.base import ONE_SPACE, Dataset, Document, Question, check_unique, counted
from loom_server.evaluation.datasets.lines import Row, content, found, hash_of, json_lines, text_lines

CORPUS, QUERIES, ABSTAIN = "corpus.jsonl", "queries.jsonl", "queries_abstain.jsonl"
QRELS, NEAR = ("qrels.tsv", "qrels/test.tsv"), "qrels_abstain.tsv"
Grades = dict[str, dict[str, int]]
_NUMBER = re.compile(r"-?\d+(\.0+)?")


def is_beir(folder: Path) -> bool:
    """Whether the folder holds a corpus in this form."""
    return found(folder, CORPUS) is not None


def read_beir(folder: Path) -> Dataset:
    """The set of a folder. Raises `InvalidInput` naming the file and the line."""
    files = _files(folder)
    documents, empty = _documents(files["corpus"])
    spaces = _Spaces(documents)
    grades = read_grades(files["qrels"])
    near = read_grades(files["near"]) if "near" in files else {}
    asked = [(row, grades.get(row.text("_id"))) for row in json_lines(files["queries"])]
    questions = [_question(row, spaces, relevant=judged) for row, judged in asked if judged]
    if "abstain" in files:
        rows = json_lines(files["abstain"])
        questions += [_question(row, spaces, near=near.get(row.text("_id"), {})) for row in rows]
    check_unique(str(folder), "question", (question.id for question in questions))
    if not questions:
        raise InvalidInput(f"{files['qrels']}: judges no question of {files['queries']}; check the ids of both.")
    missing = sum(key not in spaces.of_key for question in questions for key in question.relevant)
    notes = (
        (len(asked) - sum(1 for _, judged in asked if judged), "question", "without a judged document left out"),
        (empty, "document", "without text left out"),
        (missing, "judged document", "not in the corpus, counted as not found"),
    )
    told = tuple(f"{counted(number, noun)} {what}" for number, noun, what in notes if number)
    return Dataset(folder.resolve().name, "beir", _hash(files), documents, tuple(questions), told)


def read_grades(path: Path) -> Grades:
    """The judgments above 0 by question and document."""
    grades: Grades = {}
    for number, (where, line) in enumerate(text_lines(path)):
        cells = line.split("\t") if "\t" in line else line.split()
        cells = [cell.strip() for cell in cells]
        if len(cells) == 4:
            del cells[1]
        if len(cells) != 3:
            raise InvalidInput(f"{where}: has {len(cells)} columns; give query, document and grade.")
        if not _NUMBER.fullmatch(cells[2]):
            if number == 0:
                continue
            raise InvalidInput(f"{where}: the grade {cells[2]!r} is not a whole number.")
        grade = int(float(cells[2]))
        if grade > 0:
            grades.setdefault(cells[0], {})[cells[1]] = grade
    return grades


class _Spaces:
    """Which namespace a document and a question belong to."""

    def __init__(self, documents: Mapping[str, tuple[Document, ...]]) -> None:
        self.names = list(documents)
        self.of_key = {document.key: space for space, some in documents.items() for document in some}

    def of(self, row: Row, keys: Mapping[str, int]) -> str:
        """The namespace that a question is asked in."""
        told = row.inner("metadata").text("conversation", "")
        by_key = next((self.of_key[key] for key in keys if key in self.of_key), None)
        for name in (told, row.text("_id"), by_key):
            if name and name in self.names:
                return name
        if told or len(self.names) != 1:
            wrong = f"{told!r} is the conversation of no document" if told else "is of no known conversation"
            raise InvalidInput(
                f"{row.where}: the question {row.text('_id')!r} {wrong}; name it in metadata.conversation."
            )
        return self.names[0]


def _question(
    row: Row, spaces: _Spaces, *, relevant: Mapping[str, int] | None = None, near: Mapping[str, int] | None = None
) -> Question:
    metadata = row.inner("metadata")
    category = metadata.text("category", "") or metadata.text("type", "")
    relevant, near = relevant or {}, near or {}
    space = spaces.of(row, {**relevant, **near})
    return Question(row.text("_id"), space, row.text("text"), relevant, tuple(near), category)


def _files(folder: Path) -> dict[str, Path]:
    sought = {"corpus": (CORPUS,), "queries": (QUERIES,), "qrels": QRELS, "abstain": (ABSTAIN,), "near": (NEAR,)}
    files = {part: path for part, names in sought.items() if (path := found(folder, *names)) is not None}
    for part in ("corpus", "queries", "qrels"):
        if part not in files:
            raise InvalidInput(
                f"{folder}: has no {' or '.join(sought[part])}, plain or .gz; a set in BEIR's form needs it."
            )
    return files


def _hash(files: Mapping[str, Path]) -> str:
    return hash_of((part, content(path)) for part, path in files.items())


def _documents(path: Path) -> tuple[dict[str, tuple[Document, ...]], int]:
    """Documents by namespace, and how many have no text."""
    spaces: dict[str, list[Document]] = {}
    empty = 0
    for row in json_lines(path):
        text = f"{row.text('title', '')} {row.text('text')}".strip()
        if not text:
            empty += 1
            continue
        space = row.inner("metadata").text("conversation", "") or ONE_SPACE
        spaces.setdefault(space, []).append(Document(row.text("_id"), text))
    for space, some in spaces.items():
        check_unique(f"{path}, namespace {space}", "document", (document.key for document in some))
    return {space: tuple(some) for space, some in spaces.items()}, empty
