"""Runs over the process's own store: what is asked, that it can be repeated, and that it is better than chance."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from judged_sets import QUESTIONS, UNANSWERABLE, write_beir, write_lines
from loom_server.errors import InvalidInput
from loom_server.evaluation.datasets.base import Dataset, Document, Question
from loom_server.evaluation.datasets.read import read
from loom_server.evaluation.measures import measured
from loom_server.evaluation.modes import MODES, modes
from loom_server.evaluation.oracle import Oracle
from loom_server.evaluation.run import Place, Plan, run_set, settled
from loom_server.evaluation.runfile import Row, SetRun
from loom_server.evaluation.target import ServiceTarget, load
from loom_server.service.services import Services


def silent(done: float, at: str) -> None:
    assert 0 <= done <= 1
    assert at


def ask(services: Services, dataset: Dataset, plan: Plan, org: str) -> SetRun:
    return run_set(dataset, ServiceTarget(services), plan, settled(dataset, org), silent)


def timeless(one: SetRun) -> SetRun:
    rows = tuple(replace(row, answers=tuple(replace(answer, ms=0.0) for answer in row.answers)) for row in one.rows)
    return replace(one, load_s=0.0, rows=rows)


def row(one: SetRun, label: str, floor: str = "on") -> Row:
    return next(each for each in one.rows if (each.label, each.floor) == (label, floor))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return read(write_beir(tmp_path_factory.mktemp("sets") / "small"))


def test_every_question_is_asked_as_shipped_and_answerable_ones_without_the_floor(
    services: Services, org: str, dataset: Dataset
) -> None:
    found = ask(services, dataset, Plan(("default", "rrf")), org)
    assert [(each.label, each.floor, len(each.answers)) for each in found.rows] == [
        ("default", "off", 6), ("default", "on", 8), ("rrf", "off", 6), ("rrf", "on", 8),
    ]  # fmt: skip
    assert {each.id for each in row(found, "rrf").answers} == {*QUESTIONS, *UNANSWERABLE}
    assert (found.documents, found.notes) == (12, dataset.notes)
    for answer in row(found, "default", "off").answers:
        assert list(answer.scores) == sorted(answer.scores, reverse=True)
        assert answer.ms > 0
    shipped = ask(services, dataset, Plan(("rrf",), floor="on"), f"{org}-on")
    assert [(each.label, each.floor) for each in shipped.rows] == [("rrf", "on")]


def test_a_run_is_the_same_but_for_its_times(services: Services, org: str, dataset: Dataset) -> None:
    plan = Plan(modes(["all"]))
    first, second = (ask(services, dataset, plan, f"{org}-{number}") for number in (1, 2))
    assert timeless(first) == timeless(second)
    together = ask(services, dataset, replace(plan, callers=4), f"{org}-3")
    assert timeless(together) == timeless(first)


def test_the_default_search_beats_a_random_order(services: Services, org: str, dataset: Dataset) -> None:
    found = row(ask(services, dataset, Plan(("default",)), org), "default", "off")
    relevant = {one.id: one.relevant for one in dataset.questions if one.relevant}
    served = measured({answer.id: answer.keys for answer in found.answers}, relevant)["nDCG@10"]
    dice = random.Random(1)
    chance: list[float] = []
    for _ in range(200):
        keys = {one.id: [each.key for each in dataset.documents[one.namespace]] for one in dataset.questions}
        for some in keys.values():
            dice.shuffle(some)
        values = measured(keys, relevant)["nDCG@10"]
        chance.append(sum(values.values()) / len(values))
    assert sum(served.values()) / len(served) > max(chance)


def test_the_oracle_stands_beside_the_service(services: Services, org: str, dataset: Dataset) -> None:
    embedder = services.searcher.embedder
    plan = Plan(modes(["all"]), baseline=lambda documents: Oracle(documents, embedder).ranks)
    found = ask(services, dataset, plan, org)
    plain = {each.mode for each in found.rows if each.system == "oracle"}
    assert plain == set(MODES) - {"default"}
    for mode in ("hybrid", "vector", "bm25", "lexical"):
        served = {answer.id: answer for answer in row(found, mode, "off").answers}
        for answer in row(found, f"oracle:{mode}", "off").answers:
            assert answer.abstain is None
            assert answer.keys[:1] == served[answer.id].keys[:1]


def test_queries_about_a_store_that_is_there(services: Services, org: str, tmp_path: Path) -> None:
    target = ServiceTarget(services)
    load(
        target,
        org,
        "team",
        [Document("deploy", "Deploys go out on Tuesdays."), Document("soup", "Soup is hot.")],
        print,
        10,
    )
    mine = [
        {"query": "When do deploys go out?", "relevant": ["deploy"]},
        {"query": "Who is the king?", "relevant": "none"},
    ]
    judged = read(write_lines(tmp_path / "mine.jsonl", mine), "team")
    found = run_set(judged, target, Plan(("default",)), Place({"org": org}), silent)
    shipped = {answer.id: answer for answer in row(found, "default").answers}
    one, two = judged.questions
    assert (shipped[one.id].keys[0], shipped[one.id].abstain) == ("deploy", False)
    assert (shipped[two.id].abstain, shipped[two.id].code) == (True, "below_threshold")
    assert (found.documents, [each.kind for each in found.questions]) == (0, ["answerable", "unanswerable"])


def test_what_the_wire_refuses_is_told(services: Services, org: str) -> None:
    for text in ("", "long " * 1_000):
        wrong = Dataset(
            "small", "beir", "0", {"all": (Document("k", "text"),)}, (Question("q", "all", text, {"k": 1}),)
        )
        with pytest.raises(InvalidInput, match="small: the question 'q' cannot be asked: query"):
            ask(services, wrong, Plan(("default",)), org)
    for key, text, told in (
        ("a\nb", "text", "'a.nb' cannot be stored: memory_key"),
        ("big", "x" * 2_100_000, "'big' cannot be stored"),
    ):
        with pytest.raises(InvalidInput, match=told):
            load(ServiceTarget(services), org, "all", [Document("fine", "text"), Document(key, text)], print, 10)


def test_documents_are_written_in_batches(services: Services, org: str) -> None:
    told: list[int] = []
    documents = [Document(f"k{number}", "x" * (1_200_000 if number in (3, 4) else 5)) for number in range(6)]
    load(ServiceTarget(services), org, "all", documents, told.append, 2)
    assert told == [2, 2, 1, 1] or sum(told) == 6
    assert max(told) == 2


def test_modes_of_a_command_line() -> None:
    assert modes([]) == ("default",)
    assert modes(["rrf", "bm25", "rrf"]) == ("rrf", "bm25")
    assert modes(["rrf", "all"]) == tuple(MODES)
    with pytest.raises(InvalidInput, match="'magic' is no mode; give default"):
        modes(["magic"])
