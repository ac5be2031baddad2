"""LoCoMo as it is published: a JSON list of conversations with their sessions and questions.

    sample_id, conversation {session_1: [{speaker, dia_id, text, blip_caption?}], session_1_date_time, …},
    qa [{question, evidence: ["D1:3"], category: 1–5}]

Each conversation is a namespace, each turn a memory `<sample_id>:<dia_id>` that reads `Speaker: text`, with
the caption of a shared image. Category 5 is adversarial: nothing answers, and its evidence only looks so.

Evidence is mended where its meaning is plain: `D8:6; D9:17` is two turns, `D:11:26` and `D30:05` are written
wrongly. A question whose evidence names no turn of its conversation is left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from loom_server.errors import InvalidInput
from loom_server.evaluation.datasets.base import Dataset, Document, Question, check_unique, counted
from loom_server.evaluation.datasets.lines import Row, as_row

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5
_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D:?(\d+):(\d+)")


def is_locomo(first: Row) -> bool:
    """Whether an object is a conversation in this form."""
    return "conversation" in first.fields and "qa" in first.fields


def read_locomo(path: Path, rows: list[Row], data_hash: str) -> Dataset:
    """The set of a file's objects. Raises `InvalidInput` naming the conversation."""
    documents: dict[str, tuple[Document, ...]] = {}
    questions: list[Question] = []
    dropped = 0
    for number, row in enumerate(rows):
        name = row.text("sample_id", f"conversation-{number + 1}")
        if name in documents:
            raise InvalidInput(f"{row.where}: the sample_id {name!r} stands more than once; give each its own.")
        documents[name] = tuple(_turns(name, row.inner("conversation")))
        check_unique(row.where, "turn", (document.key for document in documents[name]))
        keys = {document.key for document in documents[name]}
        for place, asked in enumerate(row.items("qa")):
            question = _question(name, place, as_row(asked, f"{row.where}, qa {place + 1}"), keys)
            dropped += question is None
            questions += [question] if question else []
    notes = (f"{counted(dropped, 'question')} without usable evidence left out",) if dropped else ()
    return Dataset(path.stem, "locomo", data_hash, documents, tuple(questions), notes)


def _turns(name: str, conversation: Row) -> Iterator[Document]:
    numbered = ((_SESSION.fullmatch(field), field) for field in conversation.fields)
    sessions = sorted((int(match[1]), field) for match, field in numbered if match)
    if not sessions:
        raise InvalidInput(f"{conversation.where}: has no session_1; is this LoCoMo?")
    for _, field in sessions:
        for place, turn in enumerate(conversation.items(field, ())):
            row = as_row(turn, f"{conversation.where}, {field}, turn {place + 1}")
            caption = row.text("blip_caption", "")
            image = f" [shares an image: {caption}]" if caption else ""
            yield Document(f"{name}:{row.text('dia_id')}", f"{row.text('speaker')}: {row.text('text')}{image}")


def _question(name: str, place: int, row: Row, keys: set[str]) -> Question | None:
    number = row.fields.get("category")
    if not isinstance(number, int) or number not in CATEGORIES:
        raise row.wrong("category", "must be 1 to 5", number)
    named = (match for told in row.items("evidence", ()) for match in _TURN.finditer(str(told)))
    evidence = dict.fromkeys(f"{name}:D{int(match[1])}:{int(match[2])}" for match in named)
    known = [key for key in evidence if key in keys]
    one = (f"{name}:q{place}", name, row.text("question"))
    if number == ADVERSARIAL:
        return Question(*one, near=tuple(known), category=CATEGORIES[number])
    return Question(*one, relevant=dict.fromkeys(known, 1), category=CATEGORIES[number]) if known else None
