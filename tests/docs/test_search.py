"""The page on searching states the code's own numbers, and says what the code does."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from math import log
from typing import get_args

import numpy as np
import pytest

from loom_client import wire
from loom_client.wire.words import AbstainCode
from loom_server.engine.understand import idf
from loom_server.fusion.modes import MODES
from loom_server.gate import verdict
from loom_server.legs.registry import LEG_NAMES
from loom_server.model.deadline import Deadline
from loom_server.model.window import DropStage
from loom_server.service.services import Services
from loom_server.settings import Settings
from loom_server.store.native import bfloat16
from pages import numbers, rows, section, text_of

PAGE = text_of("search.md")
CONSTANTS = {row[0]: row[1] for row in rows(section(PAGE, "Constants"))}
BFLOAT16_ERROR = 0.002
SMALL = {"0", "1", "2"}


def value_of(name: str) -> float:
    """The constant of this full name."""
    module, _, constant = name.rpartition(".")
    return getattr(import_module(module), constant)


@pytest.mark.parametrize("stated", CONSTANTS)
def test_a_constant_has_the_value_that_the_page_states(stated: str) -> None:
    name = re.findall(r"`([\w.]+)`", stated)[0]
    assert float(CONSTANTS[stated].replace(",", "")) == value_of(name)


def test_every_number_of_the_page_is_a_constant_or_a_setting() -> None:
    prose = PAGE.split("## Constants")[0]
    known = {f"{float(value.replace(',', '')):g}" for value in CONSTANTS.values()}
    known |= {f"{value:g}" for value in settings_shown(prose)}
    known |= {f"{100 * value_of('loom_server.gate.evidence.RARE_SHARE'):g}", f"{BFLOAT16_ERROR:g}"}
    assert numbers(prose) <= known | SMALL


def settings_shown(prose: str) -> list[float]:
    """Defaults that the page states in brackets behind a setting."""
    found = re.findall(r"`LOOM_(\w+)`\s+\(([\d.]+)\)", prose)
    assert len(found) == 2
    for name, value in found:
        assert Settings.model_fields[name.lower()].default == float(value)
    return [float(value) for _, value in found]


def test_the_modes_and_legs_are_those_that_run() -> None:
    assert [row[0].strip("`") for row in rows(section(PAGE, "Modes"))] == list(MODES)
    assert [row[0].strip("`") for row in rows(section(PAGE, "Legs"))] == list(LEG_NAMES)


def test_the_codes_of_the_verdict_are_those_that_the_gate_gives_in_their_order() -> None:
    source = ast.parse(inspect.getsource(verdict))
    constants = [node.value for node in ast.walk(source) if isinstance(node, ast.Constant)]
    given = [code for code in get_args(AbstainCode) if code in constants]
    assert [row[0].strip("`") for row in rows(section(PAGE, "Verdict"))] == ["null", *given]


def test_the_window_names_every_stage_at_which_a_row_falls() -> None:
    words = {
        "superseded": "superseded rows",
        "tombstoned": "deleted",
        "expired": "expired",
        "per_key_cap": "`LOOM_MEMORY_SEARCH_PER_KEY_CAP`",
        "excluded": "`exclude_keys`",
        "floor": "`floor_mode`",
        "window": "`top_k`",
    }
    assert set(words) == set(get_args(DropStage))
    assert all(word in section(PAGE, "Window") for word in words.values())


def test_idf_is_as_written() -> None:
    assert "idf = ln(1 + (N − df + ½) / (df + ½))" in PAGE
    assert idf(100, 3) == pytest.approx(log(1 + 97.5 / 3.5))


def test_a_stored_cosine_is_as_good_as_the_page_states() -> None:
    random = np.random.default_rng(7)
    rows = random.standard_normal((500, 256)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    # Rows near to the question have the largest cosines, hence the largest errors.
    near = rows + 0.5 * rows[0]
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    stored = (bfloat16(near).astype(np.uint32) << 16).view(np.float32)
    exact = near.astype(np.float64) @ rows[0]
    told = 1 - ((stored.astype(np.float64) - rows[0]) ** 2).sum(axis=1) / 2
    assert np.abs(told - exact).max() < BFLOAT16_ERROR


def search(services: Services, org: str, **fields: object) -> wire.MemorySearchResponse:
    """The answer to a question."""
    request = wire.MemorySearchRequest.model_validate({"org": org, "query": "who sends the invoices", **fields})
    return services.search(request, Deadline(30.0))


@pytest.fixture
def filled(services: Services, org: str) -> str:
    """An org with two memories, one of which is not sure."""
    items = [
        {"memory_key": "sure", "value": "Ada sends the invoices."},
        {"memory_key": "unsure", "value": "Ben sends the invoices.", "confidence": 0.1},
    ]
    services.set_many(wire.MemorySetManyRequest.model_validate({"org": org, "items": items}), Deadline(30.0))
    return org


def test_a_search_takes_the_rounds_that_the_page_states(services: Services, filled: str) -> None:
    work = search(services, filled).retrieval_work
    assert "2 statements, then one round" in " ".join(section(PAGE, "Cost").split())
    assert work.statements <= 2 + 2


def test_explaining_changes_no_hit(services: Services, filled: str) -> None:
    plain, explained = (search(services, filled, explain=explain).results for explain in (False, True))
    assert [(hit.memory_id, hit.rank_score) for hit in plain] == [(hit.memory_id, hit.rank_score) for hit in explained]
    assert all(sum(hit.score_components.values()) == hit.rank_score for hit in explained if hit.score_components)


def test_quality_filter_leaves_out_what_its_writer_was_not_sure_of(services: Services, filled: str) -> None:
    both, sure = (search(services, filled, quality_filter=given).results for given in (False, True))
    assert {hit.memory_key for hit in both} == {"sure", "unsure"}
    assert [hit.memory_key for hit in sure] == ["sure"]
