"""A person's own judged queries, about a namespace of a store that is there already.

    JSONL   {"query": "who may deploy?", "relevant": ["deploy/window"]}   or {"deploy/window": 2, …}, or "none"
    CSV     query,relevant,grade                                          a row a judged key; grade may be left out

`relevant` names memory keys. The word "none", or an empty list, says that nothing in the namespace answers. `id`
and `category` are optional; an id that is left out is made of the query's text, so it stays when lines move.

Limits: a key that is really called "none" is given in a list. Grades are whole numbers; 0 means: looks like an
answer and is none.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import cast

from loom_server.errors import InvalidInput
from loom_server.evaluation.datasets.base import Dataset, Question
from loom_server.evaluation.datasets.lines import Row, json_lines, text_lines

NONE = "none"
COLUMNS = frozenset({"query", "relevant", "grade", "id", "category"})


@dataclass(slots=True)
class _Judged:
    """What the lines of one query say together."""

    text: str
    id: str
    category: str = ""
    grades: dict[str, int] = field(default_factory=dict[str, int])


def is_judged(first: Row) -> bool:
    """Whether an object is a judged query."""
    return "query" in first.fields and "relevant" in first.fields


def read_judged(path: Path, namespace: str, data_hash: str) -> Dataset:
    """The queries of a file, asked in `namespace`. Raises `InvalidInput` naming the line."""
    found: dict[str, _Judged] = {}
    for row in _csv_rows(path) if path.suffix == ".csv" else json_lines(path):
        text = row.text("query").strip()
        if not text:
            raise InvalidInput(f"{row.where}: 'query' is empty.")
        made = row.text("id", "") or f"q-{sha256(text.encode()).hexdigest()[:12]}"
        one = found.setdefault(made, _Judged(text, made))
        if one.text != text:
            raise InvalidInput(f"{row.where}: the id {made!r} is that of another query already; give each its own.")
        one.category = row.text("category", "") or one.category
        one.grades.update(_grades(row))
    if not found:
        raise InvalidInput(f"{path}: holds no query.")
    return Dataset(path.stem, "judged", data_hash, {}, tuple(_question(one, namespace) for one in found.values()))


def _question(one: _Judged, namespace: str) -> Question:
    relevant = {key: grade for key, grade in one.grades.items() if grade > 0}
    near = tuple(key for key, grade in one.grades.items() if grade == 0)
    return Question(one.id, namespace, one.text, relevant, near, one.category)


def _grades(row: Row) -> dict[str, int]:
    told = row.fields.get("relevant")
    if told in (NONE, []):
        return {}
    if isinstance(told, list):
        keys = cast("list[object]", told)
        return {_key(row, key): 1 for key in keys}
    if isinstance(told, dict):
        graded = cast("Mapping[str, object]", told)
        return {_key(row, key): _grade(row, grade) for key, grade in graded.items()}
    raise row.wrong("relevant", 'must be a list of keys, an object of grades by key, or "none"', told)


def _key(row: Row, key: object) -> str:
    if isinstance(key, str) and key:
        return key
    raise InvalidInput(f"{row.where}: 'relevant' names {key!r}, which is no memory key.")


def _grade(row: Row, grade: object) -> int:
    if isinstance(grade, int) and not isinstance(grade, bool) and grade >= 0:
        return grade
    raise InvalidInput(f"{row.where}: the grade {grade!r} must be a whole number of 0 or more.")


def _csv_rows(path: Path) -> Iterator[Row]:
    """Rows of a CSV file in the shape of the JSONL form."""
    lines = list(text_lines(path))
    reader = csv.DictReader(line for _, line in lines)
    strange = set(reader.fieldnames or ()) - COLUMNS
    if strange or not {"query", "relevant"} <= set(reader.fieldnames or ()):
        told = f"has the columns {', '.join(reader.fieldnames or ()) or 'none'}"
        raise InvalidInput(f"{path}, line 1: {told}; give query and relevant, and maybe grade, id, category.")
    for cells in reader:
        where = lines[min(reader.line_num, len(lines)) - 1][0]
        key, grade = cells["relevant"] or "", cells.get("grade") or "1"
        if not grade.isdecimal():
            raise InvalidInput(f"{where}: the grade {grade!r} must be a whole number of 0 or more.")
        relevant = NONE if key == NONE else {key: int(grade)}
        named = {name: cells.get(name) or "" for name in ("query", "id", "category")}
        yield Row(where, {**named, "relevant": relevant})
