"""Codes: what the engine keeps beside a vector, and how near to the exact scan they come."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from loom_server.legs.base import LegContext
from loom_server.legs.fact import FactLeg
from loom_server.model.deadline import Deadline
from loom_server.model.plan import LegPlan, ScanForm
from loom_server.model.scope import Scope
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.statement import Template
from loom_server.store.store import Insert
from stages import a_plan, a_query, a_request

MODEL = "test:codes"
CODES = Template(
    "test.codes",
    "SELECT hex(code) AS code FROM loom.memory_embeddings PREWHERE /*scope*/ AND id = {id:UInt64}",
)
Floats = NDArray[np.float32]
Found = tuple[tuple[int, ...], tuple[float, ...]]


def insert(store: EmbeddedStore, org: str, vectors: Floats) -> None:
    rows = len(vectors)
    blank = [""] * rows
    texts = ("agent", "user_id", "session_id", "run_id", "memory_key")
    columns = ("org", "namespace", "model", "id", *texts, "live", "vector")
    data = ([org] * rows, ["n"] * rows, [MODEL] * rows, range(rows), *[blank] * len(texts), [1] * rows, vectors)
    store.insert(Insert("memory_embeddings", columns, data))


def nearest(store: EmbeddedStore, org: str, vector: Floats, form: ScanForm, quota: int = 10) -> Found:
    query, plan = replace(a_query(), vector=vector), LegPlan("fact", quota, form=form)
    context = LegContext(
        replace(a_request(), scope=Scope(org, "n")), query, a_plan(legs=(plan,)), store, Deadline(30), MODEL
    )
    (result,) = FactLeg().run(context, (plan,))
    return result.ids, result.scores


def unit(vectors: NDArray[np.float64]) -> Floats:
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def test_a_code_by_hand(store: EmbeddedStore, org: str) -> None:
    # Of eight dimensions, 0.6 of the usual size is 0.6 / sqrt(8) = 0.212.
    vector = np.array([[0.7, 0.2, -0.2, -0.64, 0.0, 0.0, 0.1, 0.0]], dtype=np.float32)
    insert(store, org, vector)
    bits = "111110100000100100110100"
    found = store.query(CODES.bind(Scope(org, "n"), {"id": 0})).column("code")
    assert found == [f"{int(bits, 2):06X}"]


def test_codes_find_the_nearest_rows(store: EmbeddedStore, org: str) -> None:
    draw = np.random.default_rng(5)
    centres = draw.normal(size=(60, 64))
    vectors = unit(centres[draw.integers(60, size=4_000)] + 0.7 * draw.normal(size=(4_000, 64)))
    insert(store, org, vectors)
    questions = unit(vectors[::100] + 0.05 * draw.normal(size=(40, 64)))
    kept = 0
    for question in questions:
        exact_ids, exact_scores = nearest(store, org, question, "exact")
        ids, scores = nearest(store, org, question, "codes")
        cosines = dict(zip(exact_ids, exact_scores, strict=True))
        assert all(cosines.get(row, score) == score for row, score in zip(ids, scores, strict=True))
        kept += len(set(ids) & set(exact_ids))
    assert kept / 400 >= 0.99


def test_a_pool_as_large_as_the_namespace_is_the_exact_scan(store: EmbeddedStore, org: str) -> None:
    vectors = unit(np.random.default_rng(6).normal(size=(300, 20)))
    insert(store, org, vectors)
    for question in vectors[:5]:
        assert nearest(store, org, question, "codes", 100) == nearest(store, org, question, "exact", 100)


@pytest.mark.parametrize("dimension", [1, 3, 7, 10])
def test_a_dimension_that_fills_no_byte(store: EmbeddedStore, org: str, dimension: int) -> None:
    vectors = unit(np.random.default_rng(7).normal(size=(20, dimension)))
    insert(store, org, vectors)
    assert nearest(store, org, vectors[3], "codes") == nearest(store, org, vectors[3], "exact")
