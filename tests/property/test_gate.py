"""For any evidence, more of it never closes the gate, and confidence agrees with the verdict."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loom_server.gate.confidence import OPEN, confidence
from loom_server.gate.evidence import evidence, is_exempt
from loom_server.gate.floor import below_threshold, draw_lines
from loom_server.gate.verdict import judge
from loom_server.model.query import Query
from loom_server.model.verdict import Evidence
from stages import a_plan, a_query, a_row, a_term, a_window

COSINES = st.floats(-1.0, 1.0)
SHARES = st.floats(0.0, 1.0)
THRESHOLDS = st.none() | st.floats(-1.0, 1.0)
TERMS = st.lists(
    st.tuples(st.sampled_from(["word", "identifier", "part", "stop"]), st.integers(0, 60), st.floats(0.05, 9.0)),
    max_size=12,
)
MASKS = st.integers(0, 2**12 - 1)


def query_of(drawn: list[tuple[str, int, float]], *, vector: bool = True) -> Query:
    terms = [a_term(f"t{n}", df, kind=kind, idf=idf) for n, (kind, df, idf) in enumerate(drawn)]  # type: ignore[arg-type]
    return a_query(*terms, vector=vector)


@given(COSINES, COSINES, SHARES, SHARES, st.booleans(), THRESHOLDS)
def test_confidence_rises_with_similarity_and_coverage(
    one: float, other: float, less: float, more: float, identifier: bool, threshold: float | None
) -> None:
    low = Evidence(min(one, other), min(less, more), identifier)
    high = Evidence(max(one, other), max(less, more), identifier)
    named = Evidence(high.similarity, high.rare_coverage, identifier=True)
    assert confidence(low, threshold) <= confidence(high, threshold) <= confidence(named, threshold)
    assert below_threshold(low, threshold) >= below_threshold(high, threshold) >= below_threshold(named, threshold)


@given(COSINES, SHARES, st.booleans(), THRESHOLDS)
def test_confidence_is_half_or_more_exactly_where_the_gate_is_open(
    cosine: float, coverage: float, identifier: bool, threshold: float | None
) -> None:
    found = Evidence(cosine, coverage, identifier)
    sure = confidence(found, threshold)
    assert 0.0 <= sure <= 1.0
    assert (sure >= OPEN) is not below_threshold(found, threshold)


@given(TERMS, MASKS, MASKS, COSINES)
def test_more_matched_terms_are_never_less_evidence(
    drawn: list[tuple[str, int, float]], mask: int, more: int, cosine: float
) -> None:
    query = query_of(drawn)
    low = evidence(a_row(1, cosine, matched=mask), query)
    high = evidence(a_row(1, cosine, matched=mask | more), query)
    assert 0.0 <= low.rare_coverage <= high.rare_coverage <= 1.0
    assert low.identifier <= high.identifier


@given(TERMS, MASKS)
def test_coverage_is_full_only_where_no_rare_term_is_missing(drawn: list[tuple[str, int, float]], mask: int) -> None:
    query = query_of(drawn)
    rare = [slot for slot, (kind, df, _) in enumerate(drawn) if kind != "stop" and df <= 5]
    full = bool(rare) and all(mask >> slot & 1 for slot in rare)
    assert (evidence(a_row(1, matched=mask), query).rare_coverage >= 1.0) is full


@given(TERMS, MASKS, COSINES, st.booleans())
def test_the_rows_mark_and_the_verdict_agree(
    drawn: list[tuple[str, int, float]], mask: int, cosine: float, vector: bool
) -> None:
    query, row = query_of(drawn, vector=vector), a_row(1, cosine, matched=mask)
    (lines,) = draw_lines([row], query, a_plan())
    verdict = judge(a_window(row), query, a_plan())
    assert verdict.abstain is lines.below_threshold
    assert (verdict.code, verdict.risk) == (("below_threshold", "abstain") if verdict.abstain else (None, verdict.risk))
    assert verdict.abstain or verdict.risk in ("low", "medium")


@given(TERMS, MASKS, COSINES)
def test_exempt_rows_are_under_neither_line(drawn: list[tuple[str, int, float]], mask: int, cosine: float) -> None:
    query, row = query_of(drawn), a_row(1, cosine, matched=mask)
    (lines,) = draw_lines([row], query, a_plan(floor=1.0, abstain_threshold=1.0))
    exempt = is_exempt(evidence(row, query))
    assert bool(lines.evidence) is exempt
    assert not exempt or not (lines.below_floor or lines.below_threshold)
