"""The page and the Markdown hold the figures, stand alone, and take no text of the data for markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from judged_sets import a_run, a_set, answer, asked
from loom_server.evaluation.compare import Pairing, compare
from loom_server.evaluation.report.markdown import markdown, markdown_table
from loom_server.evaluation.report.page import page
from loom_server.evaluation.report.svg import Bar, Series, Spread, bars, curves, histogram, spreads
from loom_server.evaluation.report.tables import Table, comparison_tables, set_tables
from loom_server.evaluation.runfile import Run
from loom_server.evaluation.summary import Summary, summarise

HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(2)>&\"'|`*_[x](y)"
VOID = {"meta"}


def run_of(name: str = "small") -> Run:
    questions = [
        asked("a", {"x": 1}, "dev", category=name),
        asked("b", {"y": 1}, "held_out"),
        asked("n", {}, "dev", "unanswerable"),
        asked("o", {}, "held_out", "off_topic"),
    ]
    shipped = [
        answer("a", "x", confidence=0.9),
        answer("b", "zy", confidence=0.4),
        answer("n", "x", abstain=True, confidence=0.1),
    ]
    rows = {
        ("rrf", "off"): shipped[:2],
        ("rrf", "on"): [*shipped, answer("o", "x", confidence=0.3)],
        ("oracle:rrf", "off"): shipped[:1],
    }
    return a_run(a_set(name, questions, rows), command=f"loom eval run {name}")


def told(*runs: Run) -> list[tuple[Run, list[Summary]]]:
    return [(run, [summarise(one) for one in run.sets]) for run in runs]


class Balanced(HTMLParser):
    """Fails where a tag is closed that is not open, and gathers tags, attributes and texts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parsed(text: str) -> Balanced:
    reader = Balanced()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def test_the_page_stands_alone() -> None:
    found = parsed(page(told(run_of(), run_of("other"))))
    assert {tag for tag, _ in found.tags}.isdisjoint({"script", "link", "img", "iframe", "object", "base"})
    links = [value for _, given in found.tags for name, value in given.items() if name in ("href", "src") and value]
    assert links
    assert all(link.startswith("#") for link in links)
    assert "url(" not in page(told(run_of()))
    ids = [given["id"] for _, given in found.tags if "id" in given]
    assert len(ids) == len(set(ids))


def test_every_figure_has_its_words_and_its_table() -> None:
    text = page(told(run_of()))
    images = re.findall(r"<svg .*?</svg>", text)
    assert len(images) == 4
    for image in images:
        root = ElementTree.fromstring(image)
        names = root.attrib["aria-labelledby"].split()
        assert root.attrib["role"] == "img"
        assert [child.attrib["id"] for child in list(root)[:2]] == names
        assert all(child.text for child in list(root)[:2])
    assert text.count("<table>") == 5
    for told_ in (
        "loom eval run small",
        "dddddddddddd",
        "2 x chip",
        "2026-01-02T03:04:05+00:00",
        "model:1",
        "1 question left out",
    ):
        assert told_ in text


def test_texts_of_the_data_are_no_markup() -> None:
    text = page(told(run_of(HOSTILE), run_of()))
    found = parsed(text)
    assert {tag for tag, _ in found.tags}.isdisjoint({"script", "img"})
    assert not any("onerror" in given for _, given in found.tags)
    assert any(HOSTILE in one for one in found.texts)
    lines = markdown(told(run_of(HOSTILE))).splitlines()
    assert not any(re.search(r"(?<!\\)<(script|img)", line) for line in lines if not line.startswith("- command"))
    heads = next(line for line in lines if line.startswith("| mode | ") and "alert" in line)
    assert len(re.findall(r"(?<!\\)\|", heads)) == 3


def test_markdown_has_every_table_of_a_set() -> None:
    text = markdown(told(run_of()))
    titles = [table.title for table in set_tables(run_of().sets[0], summarise(run_of().sets[0]))]
    assert titles == ["Ranking", "Ranking by half", "nDCG@10 by category", "Verdict", "Time"]
    assert re.findall(r"^### (.+)$", text, re.M) == titles
    assert "| rrf | off | 2 | 0.8155 \\[0.631, 1.000] | 1.0000 |" in text
    assert "## All runs" in markdown(told(run_of(), run_of("other")))
    assert "## All runs" not in text


def test_rows_are_as_wide_as_their_heads() -> None:
    one = run_of().sets[0]
    comparison = compare(run_of(), run_of(), Pairing())
    for table in (*set_tables(one, summarise(one)), *comparison_tables(comparison)):
        assert {len(row) for row in table.rows} == {len(table.head)}
    assert markdown_table(Table("t", ("a", "b"), (("1", "2"),), "n")) == "| a | b |\n|---|---|\n| 1 | 2 |\n\nn"


def test_what_is_shared_is_said_with_the_tables_of_a_comparison() -> None:
    (differences,) = comparison_tables(compare(run_of(), run_of(), Pairing()))
    assert "for 11 comparisons" in differences.note
    assert {row[8:11] for row in differences.rows} == {
        ("1.0000", "1.0000", "0/2/0"),
        ("1.0000", "1.0000", "0/4/0"),
        ("1.0000", "1.0000", "0/1/0"),
    }


@pytest.mark.parametrize(
    "drawn",
    [
        bars("t", "d", []),
        bars(HOSTILE, HOSTILE, [Bar(HOSTILE, 0.5, 0.4, 0.6), Bar("b", 0.0, 0.0, 0.0, faint=True)]),
        spreads("t", "d", [Spread(HOSTILE, (0, 0, 0, 0, 0, 0))], "ms"),
        curves("t", "d", [Series(HOSTILE, 1, [(0, 0), (1, 1)]), Series("none", 2)], (HOSTILE, "y")),
        histogram("t", "d", [Series("a", 0, values=[0.0, 1.0, 0.5]), Series("b", 1)], ("x", "y")),
    ],
)
def test_figures_are_well_formed(drawn: str) -> None:
    root = ElementTree.fromstring(drawn)
    assert float(root.attrib["viewBox"].split()[3]) > 0
    assert root.find(".//script") is None


def test_a_histogram_shows_shares() -> None:
    text = histogram("t", "d", [Series("a", 0, values=[0.01, 0.02, 0.99, 1.0])], ("x", "y"))
    assert "y, up to 50%" in text
