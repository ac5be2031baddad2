"""The sample holds what the demo says of it; the searches themselves run in `tests/cli`."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from loom_server.analysis.analyse import index_tokens, query_terms
from loom_server.cli.demo.command import SAMPLE
from loom_server.cli.demo.questions import NAMESPACE, QUESTIONS, Shown
from loom_server.embed.static import StaticEmbedder
from loom_server.ingest.content import plain_text
from loom_server.ingest.files.entry import Entry, Owner, entry_of, key_of
from loom_server.ingest.files.read import read
from loom_server.ingest.files.row import Row, SourceFile

ANSWERED, IDENTIFIER, PARAPHRASE, OFF_TOPIC = QUESTIONS
ABSTAIN_THRESHOLD = 0.30


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    path = Path(str(files("loom_server.cli.demo") / SAMPLE))
    found = list(read(SourceFile(path, path.name, "memories", path.stat().st_size)))
    judged = [entry_of(row, Owner()) for row in found if isinstance(row, Row)]
    entries = [entry for entry in judged if isinstance(entry, Entry)]
    assert len(entries) == len(found), "every line is a memory"
    return entries


@pytest.fixture(scope="module")
def current(entries: list[Entry]) -> dict[str, Entry]:
    """The values that count in the namespace of the questions, by key."""
    return {entry.memory_key: entry for entry in entries if entry.namespace == NAMESPACE}


def shared(shown: Shown, entry: Entry) -> set[str]:
    """The terms of the question, stop words apart, that the memory or its key carries."""
    stored = index_tokens(plain_text(entry.value), entry.memory_key).counts
    return {term.text for term in query_terms(shown.query) if term.kind != "stop" and set(term.forms) & stored.keys()}


def cosines(shown: Shown, current: dict[str, Entry]) -> dict[str, float]:
    embedder = StaticEmbedder(max_tokens=256)
    rows = embedder.passages([plain_text(entry.value) for entry in current.values()])
    return dict(zip(current, (rows @ embedder.query(shown.query)).astype(float).tolist(), strict=True))


def test_the_sample_has_two_namespaces_and_values_that_were_superseded(entries: list[Entry]) -> None:
    keys = Counter(key_of(entry.model_dump(), Owner()) for entry in entries)
    assert len(entries) >= 150
    assert {entry.namespace for entry in entries} == {"platform", "design"}
    assert sum(count - 1 for count in keys.values()) >= 12
    assert {entry.memory_type for entry in entries} == {"fact", "preference", "episode", "procedure"}


def test_versions_of_a_key_come_in_the_order_of_their_time(entries: list[Entry]) -> None:
    last: dict[object, object] = {}
    for entry in entries:
        key = key_of(entry.model_dump(), Owner())
        assert entry.valid_at is not None
        assert last.get(key, entry.valid_at) <= entry.valid_at  # type: ignore[operator]
        last[key] = entry.valid_at


def test_the_identifier_stands_whole_in_its_fact(current: dict[str, Entry]) -> None:
    assert IDENTIFIER.first is not None
    assert any(term.kind == "identifier" for term in query_terms(IDENTIFIER.query))
    assert "PROJ-1234" in str(current[IDENTIFIER.first].value)
    assert max(cosines(IDENTIFIER, current).items(), key=lambda pair: pair[1])[0] != IDENTIFIER.first


def test_the_paraphrase_shares_no_word_with_its_fact_and_is_found_by_its_vector(current: dict[str, Entry]) -> None:
    assert PARAPHRASE.first is not None
    assert shared(PARAPHRASE, current[PARAPHRASE.first]) == set()
    ranked = sorted(cosines(PARAPHRASE, current).items(), key=lambda pair: -pair[1])
    assert ranked[0][0] == PARAPHRASE.first
    assert ranked[0][1] >= ABSTAIN_THRESHOLD + 0.1
    assert ranked[0][1] - ranked[1][1] >= 0.2


def test_nothing_is_near_the_off_topic_question(current: dict[str, Entry]) -> None:
    assert max(cosines(OFF_TOPIC, current).values()) < ABSTAIN_THRESHOLD - 0.05
    assert [key for key, entry in current.items() if shared(OFF_TOPIC, entry)] == []
    assert np.isfinite(list(cosines(OFF_TOPIC, current).values())).all()
