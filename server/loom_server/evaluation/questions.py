"""What a set asks: its questions by kind, each in the dev or the held-out half.

    answerable     has relevant keys
    unanswerable   the set says that nothing answers; the sets that ship such questions write them as near-misses
    off_topic      an answerable question of one namespace asked in another of the same half

Where a set has several namespaces, a namespace lies in one half as a whole: in the order of SHA-256 of their names,
each goes to the half that has fewer questions so far. Else each question goes by the SHA-256 of its id. Neither depends
on the order of the files, nor on `limit`: the limit is taken after the split, by the SHA-256 of the ids, so it
samples every namespace.

Limits: with one namespace in a half there is no off-topic question in it. Two persons' chats may share
a topic, so an off-topic question may by chance be answered; what is shipped with a set is judged, this is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from loom_server.evaluation.datasets.base import Dataset, Question

Kind = Literal["answerable", "unanswerable", "off_topic"]
Half = Literal["dev", "held_out"]
HALVES: tuple[Half, ...] = ("dev", "held_out")
OFF_TOPIC = 200
"""Most off-topic questions of a set."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is asked, without its text: what the measures need of it."""

    id: str
    kind: Kind
    half: Half
    namespace: str
    relevant: Mapping[str, int]
    category: str = ""


def ask(dataset: Dataset, limit: int | None = None, off_topic: int = OFF_TOPIC) -> tuple[tuple[Asked, str], ...]:
    """Each question with its text: answerable, unanswerable, off-topic; at most `limit` of each kind."""
    halves = split(dataset.questions)
    own = [
        (Asked(one.id, "answerable" if one.relevant else "unanswerable", halves[one.id], one.namespace, one.relevant,
               one.category), one.text)
        for one in dataset.questions
    ]  # fmt: skip
    answerable = [pair for pair in own if pair[0].kind == "answerable"]
    unanswerable = [pair for pair in own if pair[0].kind == "unanswerable"]
    strays = _strays(answerable, off_topic)
    return tuple(pair for some in (answerable, unanswerable, strays) for pair in _some(some, limit))


def split(questions: Sequence[Question]) -> dict[str, Half]:
    """The half of each question by its id."""
    by_space: dict[str, int] = {}
    for one in questions:
        by_space[one.namespace] = by_space.get(one.namespace, 0) + 1
    if len(by_space) < 2:
        return {one.id: HALVES[_digest(one.id) % 2] for one in questions}
    held: dict[Half, int] = dict.fromkeys(HALVES, 0)
    of_space: dict[str, Half] = {}
    for space in sorted(by_space, key=_digest):
        half = min(HALVES, key=lambda one: held[one])
        of_space[space] = half
        held[half] += by_space[space]
    return {one.id: of_space[one.namespace] for one in questions}


def _strays(answerable: Sequence[tuple[Asked, str]], most: int) -> list[tuple[Asked, str]]:
    """Questions asked where they do not belong."""
    spaces: dict[Half, set[str]] = {}
    for one, _ in answerable:
        spaces.setdefault(one.half, set()).add(one.namespace)
    found: list[tuple[Asked, str]] = []
    for one, text in _some(answerable, most):
        others = sorted(spaces[one.half] - {one.namespace}, key=_digest)
        if others:
            other = others[_digest(one.id) % len(others)]
            found.append((Asked(f"{one.id}@{other}", "off_topic", one.half, other, {}, one.category), text))
    return found


def _some(asked: Iterable[tuple[Asked, str]], limit: int | None) -> list[tuple[Asked, str]]:
    """The `limit` of least digest, in their own order."""
    every = list(asked)
    if limit is None or limit >= len(every):
        return every
    kept = {one.id for one, _ in sorted(every, key=lambda pair: _digest(pair[0].id))[:limit]}
    return [pair for pair in every if pair[0].id in kept]


def _digest(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")
