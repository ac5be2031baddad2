from __future__ import annotations

from pathlib import Path

from judged_sets import write_beir
from loom_server.evaluation.datasets.base import Dataset, Document, Question
from loom_server.evaluation.datasets.read import read
from loom_server.evaluation.questions import HALVES, ask, split


def spread(spaces: int, each: int) -> Dataset:
    questions = [
        Question(f"s{space}-{number}", f"s{space}", f"text {number}", {"k": 1})
        for space in range(spaces)
        for number in range(each)
    ]
    documents = {f"s{space}": (Document("k", "text"),) for space in range(spaces)}
    return Dataset("spread", "beir", "0" * 64, documents, tuple(questions))


def test_a_conversation_lies_in_one_half_and_the_halves_are_near_in_size() -> None:
    dataset = spread(7, 10)
    halves = split(dataset.questions)
    of_space = {
        one.namespace: {halves[each.id] for each in dataset.questions if each.namespace == one.namespace}
        for one in dataset.questions
    }
    assert all(len(some) == 1 for some in of_space.values())
    assert sorted(list(halves.values()).count(half) for half in HALVES) == [30, 40]


def test_one_namespace_is_split_by_question() -> None:
    halves = split(spread(1, 400).questions)
    assert 160 < list(halves.values()).count("dev") < 240


def test_the_split_does_not_depend_on_the_order() -> None:
    questions = spread(5, 4).questions
    assert split(questions) == split(questions[::-1])
    one = spread(1, 9).questions
    assert split(one) == split(one[::-1])


def test_an_off_topic_question_is_asked_elsewhere_in_its_own_half() -> None:
    asked = {one.id: one for one, _ in ask(spread(6, 5))}
    strays = [one for one in asked.values() if one.kind == "off_topic"]
    assert len(strays) == 30
    for one in strays:
        source = asked[one.id.rpartition("@")[0]]
        assert one.namespace != source.namespace
        assert one.half == source.half
        assert not one.relevant


def test_there_is_no_off_topic_question_where_a_half_has_one_namespace() -> None:
    assert [one for one, _ in ask(spread(2, 5)) if one.kind == "off_topic"] == []
    assert [one for one, _ in ask(spread(1, 5)) if one.kind == "off_topic"] == []


def test_a_limit_samples_each_kind_and_moves_no_question_to_the_other_half(tmp_path: Path) -> None:
    dataset = read(write_beir(tmp_path / "small"))
    every = {one.id: one for one, _ in ask(dataset)}
    some = [one for one, _ in ask(dataset, limit=2)]
    assert [one.kind for one in some] == ["answerable", "answerable", "unanswerable", "unanswerable"]
    assert all(every[one.id] == one for one in some)
    assert len(ask(spread(6, 5), off_topic=7)) == 37
