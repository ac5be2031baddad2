"""The registry holds every mode that a request may name."""

from __future__ import annotations

from typing import get_args

import pytest

from loom_server.fusion.modes import MODES, relevance
from loom_server.model.query import SearchMode
from stages import a_candidate, a_plan


def test_every_search_mode_is_registered() -> None:
    assert set(MODES) == set(get_args(SearchMode))


@pytest.mark.parametrize("mode", sorted(MODES))
def test_each_mode_names_its_own_components(mode: SearchMode) -> None:
    made = relevance(mode, [a_candidate(1, 0.5, lexical=0.5, bm25=0.25)], a_plan(mode=mode))
    others = {
        name
        for other in MODES
        if other != mode
        for name, _ in relevance(other, [a_candidate(1, 0.5, lexical=0.5, bm25=0.25)], a_plan())[1].components
    }
    assert made[1].score > 0.0
    assert not others & {name for name, _ in made[1].components}
