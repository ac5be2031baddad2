from __future__ import annotations

import re
from pathlib import Path

import pytest

from judged_sets import QUESTIONS, TEXTS, UNANSWERABLE, write_beir, write_lines
from loom_server.errors import InvalidInput
from loom_server.evaluation.datasets.read import places, read


def test_a_folder_is_read(tmp_path: Path) -> None:
    found = read(write_beir(tmp_path / "small"))
    assert (found.name, found.shape, found.size) == ("small", "beir", len(TEXTS))
    assert {space: len(some) for space, some in found.documents.items()} == {"harbour": 6, "bakery": 6}
    by_id = {one.id: one for one in found.questions}
    assert {name: dict(one.relevant) for name, one in by_id.items() if one.relevant} == {
        name: keys for name, (_, _, keys) in QUESTIONS.items()
    }
    assert {name: list(one.near) for name, one in by_id.items() if not one.relevant} == {
        name: keys for name, (_, _, keys) in UNANSWERABLE.items()
    }
    assert {one.category for one in found.questions} == {"", "made up"}
    assert found.notes == ("1 question without a judged document left out",)


@pytest.mark.parametrize("form", [{"zipped": True}, {"head": False}, {"nested": True}])
def test_every_form_gives_the_same_questions(tmp_path: Path, form: dict[str, bool]) -> None:
    plain, other = read(write_beir(tmp_path / "plain")), read(write_beir(tmp_path / "other", **form))
    assert (other.documents, other.questions) == (plain.documents, plain.questions)
    if "head" not in form:
        assert other.data_hash == plain.data_hash


def test_the_hash_changes_with_any_file(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "small")
    before = read(folder).data_hash
    assert re.fullmatch("[0-9a-f]{64}", before)
    for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv", "queries_abstain.jsonl", "qrels_abstain.tsv"):
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write("\n")
        after = read(folder).data_hash
        assert after != before
        before = after


def test_four_columns_of_trec_are_read(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "small")
    (folder / "qrels.tsv").write_text("q1 0 heron 1\nq2 0 ferry 2\n")
    assert {one.id: dict(one.relevant) for one in read(folder).questions if one.relevant} == {
        "q1": {"heron": 1},
        "q2": {"ferry": 2},
    }


def test_the_namespace_of_a_question(tmp_path: Path) -> None:
    folder = tmp_path / "spaces"
    folder.mkdir()
    write_lines(
        folder / "corpus.jsonl", [{"_id": f"d{n}", "text": "x", "metadata": {"conversation": f"c{n}"}} for n in (1, 2)]
    )
    queries = [{"_id": "c2", "text": "by its own id"}, {"_id": "q", "text": "by what is judged"}]
    write_lines(folder / "queries.jsonl", queries)
    (folder / "qrels.tsv").write_text("c2\td2\t1\nq\td1\t1\n")
    assert {one.id: one.namespace for one in read(folder).questions} == {"c2": "c2", "q": "c1"}
    write_lines(folder / "queries_abstain.jsonl", [{"_id": "n", "text": "of nothing known"}])
    with pytest.raises(
        InvalidInput, match=r"queries_abstain.jsonl, line 1: the question 'n' is of no known conversation"
    ):
        read(folder)


def test_what_the_corpus_lacks_and_what_has_no_text_is_told(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "small")
    with (folder / "qrels.tsv").open("a") as file:
        file.write("q1\tgone\t1\n")
    with (folder / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "blank", "title": "", "text": " "}\n')
    found = read(folder)
    assert found.notes[1:] == (
        "1 document without text left out",
        "1 judged document not in the corpus, counted as not found",
    )
    assert "gone" in next(one for one in found.questions if one.id == "q1").relevant


@pytest.mark.parametrize(
    ("name", "line", "told"),
    [
        ("corpus.jsonl", "{", r"corpus.jsonl, line 13: is not JSON"),
        ("corpus.jsonl", "[]", r"corpus.jsonl, line 13: must be a JSON object, not list"),
        ("corpus.jsonl", '{"_id": "x"}', r"corpus.jsonl, line 13: 'text' is missing"),
        ("corpus.jsonl", '{"_id": "x", "text": []}', r"line 13: 'text' must be text, not list"),
        ("corpus.jsonl", '{"_id":"oven","text":"y","metadata":{"conversation":"bakery"}}', "'oven' stands more"),
        ("queries.jsonl", '{"text": "y"}', r"queries.jsonl, line 8: '_id' is missing"),
        ("qrels.tsv", "q1\theron", r"qrels.tsv, line 10: has 2 columns"),
        ("qrels.tsv", "q1\theron\t0.5", r"qrels.tsv, line 10: the grade '0.5' is not a whole number"),
        ("queries_abstain.jsonl", '{"_id":"q1","text":"y","metadata":{"conversation":"bakery"}}', "'q1' stands more"),
        ("queries_abstain.jsonl", '{"_id":"z","text":"y","metadata":{"conversation":"mine"}}', "'mine' is the conv"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, name: str, line: str, told: str) -> None:
    folder = write_beir(tmp_path / "small")
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    with pytest.raises(InvalidInput, match=told):
        read(folder)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "small")
    (folder / "corpus.jsonl").write_bytes(b"\xff\n")
    with pytest.raises(InvalidInput, match=r"corpus.jsonl, line 1: is not UTF-8"):
        read(folder)
    (folder / "corpus.jsonl").rename(folder / "corpus.jsonl.gz")
    with pytest.raises(InvalidInput, match=r"corpus.jsonl.gz: cannot be read \(BadGzipFile"):
        read(folder)
    (folder / "queries.jsonl").unlink()
    with pytest.raises(InvalidInput, match=r"has no queries.jsonl"):
        read(folder)


def test_a_folder_of_sets(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write_beir(tmp_path / name)
    (tmp_path / "notes").mkdir()
    assert [one.name for one in places(tmp_path)] == ["a", "b"]
    assert [one.name for one in places(tmp_path, ["b"])] == ["b"]
    with pytest.raises(InvalidInput, match="has no set c; it holds a, b"):
        places(tmp_path, ["c"])
    with pytest.raises(InvalidInput, match=r"holds no corpus\.jsonl"):
        places(tmp_path / "notes")
    with pytest.raises(InvalidInput, match="is not there"):
        places(tmp_path / "nowhere")
