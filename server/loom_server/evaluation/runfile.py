"""A run as a file: what was asked, what came back, and everything needed to judge it again without the data.

    Run     schema, about, sets
    SetRun  one judged set: its data hash, its questions with their relevant keys, its rows
    Row     one way of asking: a mode of the service or of the plain oracle, with or without the floor
    Answer  one question's keys and scores, best first, the verdict, milliseconds

`floor` is "off" where the search was sent with min_similarity -1, so that the order alone is measured, and
"on" where it ran as shipped. The texts of questions and documents are not in the file: sets have
licences. Files of another schema are refused. Two runs of the same code on the same data differ in times alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import orjson
from pydantic import TypeAdapter, ValidationError

from loom_server.errors import InvalidInput
from loom_server.evaluation.questions import Asked

SCHEMA = 1
Floor = Literal["off", "on"]
System = Literal["loom", "oracle"]
ORACLE = "oracle:"


@dataclass(frozen=True, slots=True)
class Answer:
    """One question's answer. The oracle gives no verdict: there `abstain` and `confidence` are null."""

    id: str
    keys: tuple[str, ...]
    scores: tuple[float, ...]
    ms: float
    abstain: bool | None = None
    code: str | None = None
    confidence: float | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """The answers of one way of asking."""

    system: System
    mode: str
    floor: Floor
    answers: tuple[Answer, ...]

    @property
    def label(self) -> str:
        """The mode, with `oracle:` before it for the oracle's."""
        return f"{ORACLE if self.system == 'oracle' else ''}{self.mode}"


@dataclass(frozen=True, slots=True)
class SetRun:
    """One set, asked."""

    name: str
    shape: str
    data_hash: str
    documents: int
    notes: tuple[str, ...]
    load_s: float
    questions: tuple[Asked, ...]
    rows: tuple[Row, ...]

    def row(self, label: str, floor: Floor) -> Row | None:
        """The row of a label, or none."""
        return next((row for row in self.rows if (row.label, row.floor) == (label, floor)), None)

    def ranking(self, label: str) -> Row | None:
        """The row that ranking is measured on: without the floor where that was asked, else as shipped."""
        return self.row(label, "off") or self.row(label, "on")

    @property
    def labels(self) -> tuple[str, ...]:
        """Every label, in the order of the run."""
        return tuple(dict.fromkeys(row.label for row in self.rows))


@dataclass(frozen=True, slots=True)
class About:
    """Where the figures come from. `settings` are those that differ from their defaults, secrets left out."""

    command: str
    at: str
    machine: str
    loom: str
    engine: str
    python: str
    embedder: str
    settings: Mapping[str, str]
    limit: int | None
    off_topic: int
    callers: int
    seed: int


@dataclass(frozen=True, slots=True)
class Run:
    """A whole run."""

    schema: int
    about: About
    sets: tuple[SetRun, ...]

    def named(self, name: str) -> SetRun | None:
        """The set of a name, or none."""
        return next((one for one in self.sets if one.name == name), None)


_RUN: TypeAdapter[Run] = TypeAdapter(Run)


def write_run(run: Run, path: Path) -> None:
    """Write the file whole or not at all. Raises `InvalidInput` where it cannot be written."""
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(orjson.dumps(run) + b"\n")
        part.replace(path)
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be written ({error.strerror}).") from None


def read_run(path: Path) -> Run:
    """A run from its file. Raises `InvalidInput` where it is none, or of another schema."""
    try:
        body = path.read_bytes()
        schema = orjson.loads(body).get("schema")
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror}).") from None
    except (orjson.JSONDecodeError, AttributeError):
        raise InvalidInput(f"{path}: is no run file; `loom eval run --out` writes one.") from None
    if schema != SCHEMA:
        raise InvalidInput(f"{path}: has the schema {schema!r}, this version reads {SCHEMA}; run it anew.")
    try:
        return _RUN.validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"{path}: {place}: {first['msg']}.") from None
