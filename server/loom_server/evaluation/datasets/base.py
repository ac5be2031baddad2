"""A judged set: documents by namespace, and questions with the keys that answer them.

    relevant   key -> grade, a whole number of 1 or more; empty where the set says that nothing answers
    near       keys that look like an answer to such a question and are none

A question is asked in its own namespace only. Ids of questions are unique in a set, keys in a namespace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from loom_server.errors import InvalidInput

ONE_SPACE = "all"
"""The namespace of a set that has no conversations."""


@dataclass(frozen=True, slots=True)
class Document:
    """One memory to store."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """One judged question."""

    id: str
    namespace: str
    text: str
    relevant: Mapping[str, int] = field(default_factory=dict[str, int])
    near: tuple[str, ...] = ()
    category: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A set as it was read. `notes` tell what was left out and why; `data_hash` is a SHA-256 in hexadecimal.

    `documents` is empty for questions about a store that exists already.
    """

    name: str
    shape: str
    data_hash: str
    documents: Mapping[str, tuple[Document, ...]]
    questions: tuple[Question, ...]
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many documents there are."""
        return sum(map(len, self.documents.values()))


def check_unique(where: str, noun: str, names: Iterable[str]) -> None:
    """Raise `InvalidInput` where a name stands twice."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InvalidInput(f"{where}: the {noun} {twice[0]!r} stands more than once; give each its own.")


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 question`, `2 questions`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
