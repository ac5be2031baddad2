"""Asks a set of the service, every mode in turn, and gathers what came back.

    for each question, for each way of asking: one search, timed by its caller

The ways take turns in being first, so that each pays equally for rows that nobody has read yet. With one caller the
milliseconds are those of a search alone; with more the run is shorter and the milliseconds are longer, the answers
are the same. A search is asked for ten rows. With the floor off, answerable
questions are asked once more as shipped, since the verdict is judged as shipped.

A search that raises ends the run: a question without an answer would be a figure without a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import perf_counter

from pydantic import ValidationError

from loom_client import wire
from loom_server.errors import InvalidInput
from loom_server.evaluation.datasets.base import Dataset, Document
from loom_server.evaluation.measures import DEPTH
from loom_server.evaluation.modes import MODES
from loom_server.evaluation.questions import OFF_TOPIC, Asked, ask
from loom_server.evaluation.runfile import Answer, Floor, Row, SetRun
from loom_server.evaluation.target import Target, load

Watch = Callable[[float, str], None]
"""Told how much of a set is done, in [0, 1], and what is at work."""

Way = tuple[str, Floor]
"""A mode, with or without the floor."""

BATCH = 1_000
LOADING = 0.2
"""Share of a set's bar that its loading takes."""

_DIGITS = 6


Ranks = Callable[[str, Sequence[str]], Mapping[str, tuple[tuple[str, ...], tuple[float, ...]]]]
"""A question and the modes wanted -> keys and scores of each mode that has a plain counterpart."""

Baseline = Callable[[Sequence[Document]], Ranks]
"""Makes the plain ranking of a namespace from its documents."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked. `floor` "off" measures the order without the floor, "on" as shipped."""

    modes: tuple[str, ...]
    floor: Floor = "off"
    limit: int | None = None
    off_topic: int = OFF_TOPIC
    callers: int = 1
    baseline: Baseline | None = None

    @property
    def ways(self) -> list[Way]:
        """Each mode as it ranks and as it is shipped."""
        floors: tuple[Floor, ...] = ("off", "on") if self.floor == "off" else ("on",)
        return [(mode, floor) for mode in self.modes for floor in floors]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a set's namespaces lie: the fields that name the caller, and the name of each namespace there."""

    identity: Mapping[str, str]
    namespaces: Mapping[str, str] = field(default_factory=dict[str, str])

    def fields(self, namespace: str) -> dict[str, str]:
        """The fields of a request in a namespace of the set."""
        return {**self.identity, "namespace": self.namespaces.get(namespace, namespace)}


def run_set(dataset: Dataset, target: Target, plan: Plan, place: Place, watch: Watch) -> SetRun:
    """Load a set where it has documents, ask all its questions, and give back what was answered.

    Raises `InvalidInput` where a document or a question is one that the wire refuses, and the error of a search.
    """
    asked = ask(dataset, plan.limit, plan.off_topic)
    start = perf_counter()
    _load(dataset, asked, target, place, watch)
    loaded = perf_counter() - start
    rows = (*_searched(dataset, asked, target, plan, place, watch), *_plain(dataset, asked, plan, watch))
    questions = tuple(one for one, _ in asked)
    head = (dataset.name, dataset.shape, dataset.data_hash, dataset.size, dataset.notes)
    return SetRun(*head, round(loaded, 3), questions, rows)


def settled(dataset: Dataset, org: str) -> Place:
    """A place of the set's own in a store: namespaces by number, since names of data are no names of the wire."""
    return Place({"org": org}, {name: f"n{number}" for number, name in enumerate(dataset.documents)})


def _load(dataset: Dataset, asked: Sequence[tuple[Asked, str]], target: Target, place: Place, watch: Watch) -> None:
    needed = {one.namespace for one, _ in asked}
    documents = {name: some for name, some in dataset.documents.items() if name in needed}
    total, done = sum(map(len, documents.values())), 0

    def told(number: int) -> None:
        nonlocal done
        done += number
        watch(LOADING * done / total, f"{done:,} of {total:,} documents")

    for name, some in documents.items():
        fields = place.fields(name)
        load(target, fields["org"], fields["namespace"], some, told, BATCH)


def _searched(
    dataset: Dataset, asked: Sequence[tuple[Asked, str]], target: Target, plan: Plan, place: Place, watch: Watch
) -> Iterator[Row]:
    ways = plan.ways
    answers: dict[Way, list[Answer]] = {way: [] for way in ways}

    def every_way(number: int) -> list[tuple[Way, Answer]]:
        one, text = asked[number]
        turn = number % len(ways)
        got: list[tuple[Way, Answer]] = []
        for mode, floor in (*ways[turn:], *ways[:turn]):
            if floor == "on" or one.kind == "answerable":
                extra = {**MODES[mode], **({"min_similarity": -1} if floor == "off" else {})}
                body = {**place.fields(one.namespace), "query": text, "top_k": DEPTH, **extra}
                got.append(((mode, floor), _answer(dataset.name, one, target, _request(dataset, one, body))))
        return got

    with ThreadPoolExecutor(plan.callers) as callers:
        for done, got in enumerate(callers.map(every_way, range(len(asked))), start=1):
            for way, answer in got:
                answers[way].append(answer)
            watch(LOADING + (1 - LOADING) * done / len(asked), f"{done:,} of {len(asked):,} questions")
    for mode, floor in ways:
        yield Row("loom", mode, floor, tuple(answers[mode, floor]))


def _answer(name: str, one: Asked, target: Target, request: wire.MemorySearchRequest) -> Answer:
    try:
        start = perf_counter()
        found = target.search(request)
        took = (perf_counter() - start) * 1000
    except InvalidInput as error:
        raise InvalidInput(f"{name}: the question {one.id!r} cannot be asked: {error.message}") from None
    return Answer(
        one.id,
        tuple(hit.memory_key for hit in found.results),
        tuple(round(hit.rank_score, _DIGITS) for hit in found.results),
        round(took, 3),
        found.abstain,
        found.abstain_code,
        round(found.retrieval_confidence, _DIGITS),
        found.degraded,
    )


def _request(dataset: Dataset, one: Asked, body: Mapping[str, object]) -> wire.MemorySearchRequest:
    try:
        return wire.MemorySearchRequest.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidInput(
            f"{dataset.name}: the question {one.id!r} cannot be asked: {place} {first['msg']}."
        ) from None


def _plain(dataset: Dataset, asked: Sequence[tuple[Asked, str]], plan: Plan, watch: Watch) -> Iterator[Row]:
    """The plain ranking of each mode that has one, for the questions that have an answer."""
    if plan.baseline is None:
        return
    answers: dict[str, list[Answer]] = {}
    for namespace, documents in dataset.documents.items():
        mine = [(one, text) for one, text in asked if one.namespace == namespace and one.kind == "answerable"]
        if not mine:
            continue
        watch(1.0, f"the plain oracle over {len(documents):,} documents")
        ranks = plan.baseline(documents)
        for one, text in mine:
            for mode, ranking in ranks(text, plan.modes).items():
                answers.setdefault(mode, []).append(Answer(one.id, *ranking, ms=0.0))
    for mode, some in answers.items():
        yield Row("oracle", mode, "off", tuple(some))
