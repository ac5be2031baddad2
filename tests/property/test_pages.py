"""However a search is asked and however large its pages, they are one ranking cut into parts."""

from __future__ import annotations

from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loom_client import wire
from loom_server.service.services import Services
from spaces import Space

TOPICS = ("database", "deploy", "canteen", "storage team", "queue", "invoice")
ROWS = {
    f"{topic}/{number}": f"The {topic} note {number} says {word} about PROJ-{number} and the {other}."
    for number, (topic, word, other) in enumerate(
        (topic, word, TOPICS[(place + len(word)) % len(TOPICS)])
        for place, topic in enumerate(TOPICS)
        for word in ("nothing", "a lot", "enough", "little")
    )
}
QUERIES = st.sampled_from(["what of the deploy", "PROJ-7", "who leads the storage team", "volcanoes under the sea"])
FIELDS = st.fixed_dictionaries(
    {
        "search_mode": st.sampled_from(wire.BUILT_MODES),
        "floor_mode": st.sampled_from(["readmit", "ids_only", "drop"]),
        "include_superseded": st.booleans(),
    },
    optional={
        "min_similarity": st.floats(0.0, 0.9),
        "candidates": st.fixed_dictionaries({"fact": st.integers(2, 30), "lexical": st.integers(2, 30)}),
        "tags_any": st.just(["even"]),
    },
)


@pytest.fixture(scope="module")
def space(services: Services) -> Space:
    """Rows of which some are alike, some have two versions, and half carry a tag."""
    filled = Space(services, f"org-{uuid4().hex[:12]}")
    filled.set_many(
        [
            {"memory_key": key, "value": value, "tags": ["even"] if place % 2 == 0 else []}
            for place, (key, value) in enumerate(ROWS.items())
        ]
    )
    for key in list(ROWS)[::5]:
        filled.set(key, f"{ROWS[key]} It was said anew.")
    return filled


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=QUERIES, fields=FIELDS, top_k=st.integers(1, 7))
def test_the_pages_are_the_window_cut_into_parts(
    space: Space, query: str, fields: dict[str, object], top_k: int
) -> None:
    whole = space.search(query, top_k=200, **fields)
    assert whole.next_page is None
    hits: list[wire.Hit] = []
    page: str | None = None
    while page is not None or not hits:
        answer = space.search(query, top_k=top_k, **fields, **({} if page is None else {"page": page}))
        assert answer.page_offset == len(hits)
        assert (answer.abstain, answer.abstain_code, answer.abstain_reason) == (
            whole.abstain,
            whole.abstain_code,
            whole.abstain_reason,
        )
        hits.extend(answer.results)
        page = answer.next_page
        assert len(answer.results) == top_k or page is None
        if not whole.results:
            break
    assert hits == list(whole.results)
    assert len({hit.memory_id for hit in hits}) == len(hits)
