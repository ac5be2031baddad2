"""LongMemEval as it is published: a JSON list (or JSONL) of questions, each with its own haystack of sessions.

    {question_id, question_type, question, question_date, answer, answer_session_ids,
     haystack_session_ids, haystack_dates, haystack_sessions: [[{role, content, has_answer?}]]}

Each question is a namespace, each turn a memory `<session id>:<turn>`, turns counted from 0. Turns marked `has_answer`
are relevant. An id that ends with `_abs` is unanswerable; marked turns there only look like an answer.

Limits: where no turn of an answerable question is marked, the session alone is known, and the question is
left out and counted: the measures here are of turns. A session that stands twice in a haystack counts once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loom_server.errors import InvalidInput
from loom_server.evaluation.datasets.base import Dataset, Document, Question, check_unique, counted
from loom_server.evaluation.datasets.lines import Row, as_row

UNANSWERABLE = "_abs"


def is_longmemeval(first: Row) -> bool:
    """Whether an object is a question in this form."""
    return "question_id" in first.fields and "haystack_sessions" in first.fields


def read_longmemeval(path: Path, rows: list[Row], data_hash: str) -> Dataset:
    """The set of a file's objects. Raises `InvalidInput` naming the question."""
    documents: dict[str, tuple[Document, ...]] = {}
    questions: list[Question] = []
    dropped = 0
    check_unique(str(path), "question_id", (row.text("question_id") for row in rows))
    for row in rows:
        name = row.text("question_id")
        turns, marked = _haystack(row)
        question = Question(name, name, row.text("question"), category=row.text("question_type", ""))
        if name.endswith(UNANSWERABLE):
            question = Question(name, name, question.text, near=marked, category=question.category)
        elif marked:
            question = Question(name, name, question.text, dict.fromkeys(marked, 1), category=question.category)
        else:
            dropped += 1
            continue
        documents[name] = turns
        questions.append(question)
    notes = (f"{counted(dropped, 'question')} without a marked turn left out",) if dropped else ()
    return Dataset(path.stem, "longmemeval", data_hash, documents, tuple(questions), notes)


def _haystack(row: Row) -> tuple[tuple[Document, ...], tuple[str, ...]]:
    """The turns, and the keys of those that are marked."""
    ids = [str(one) for one in row.items("haystack_session_ids")]
    sessions = row.items("haystack_sessions")
    if len(ids) != len(sessions):
        raise InvalidInput(f"{row.where}: has {len(ids)} haystack_session_ids for {len(sessions)} haystack_sessions.")
    # Later sessions of an id replace earlier ones; the published files repeat them word by word.
    turns = [
        turn for name, session in dict(zip(ids, sessions, strict=True)).items() for turn in _turns(row, name, session)
    ]
    stored = tuple(document for document, _ in turns if document.text)
    return stored, tuple(document.key for document, marked in turns if marked and document.text)


def _turns(row: Row, name: str, session: object) -> Iterator[tuple[Document, bool]]:
    for place, turn in enumerate(Row(row.where, {name: session}).items(name)):
        one = as_row(turn, f"{row.where}, session {name!r}, turn {place + 1}")
        text = one.text("content").strip()
        yield Document(f"{name}:{place}", text), one.fields.get("has_answer") is True
