"""The scalar tier's map, worked by hand at the threshold 0.30."""

from __future__ import annotations

import pytest

from loom_server.gate.confidence import confidence, risk
from loom_server.model.verdict import Evidence


def by_cosine(similarity: float, threshold: float = 0.30) -> float:
    return confidence(Evidence(similarity, 0.0, identifier=False), threshold)


@pytest.mark.parametrize(
    ("similarity", "expected"),
    [
        (-0.5, 0.0),
        (0.0, 0.0),
        (0.15, 0.25),  # half way to the threshold
        (0.30, 0.5),
        (0.65, 0.75),  # half way from it to 1
        (1.0, 1.0),
    ],
)
def test_a_cosine_is_laid_over_the_threshold(similarity: float, expected: float) -> None:
    assert by_cosine(similarity) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("similarity", "threshold", "expected"),
    [(1.0, 1.0, 0.5), (0.5, 1.0, 0.25), (-0.5, 0.0, 0.25), (0.0, 0.0, 0.5), (-1.0, -1.0, 0.5), (-1.0, -0.5, 0.0)],
)
def test_thresholds_at_the_ends_of_their_range(similarity: float, threshold: float, expected: float) -> None:
    assert by_cosine(similarity, threshold) == pytest.approx(expected)


def test_a_cosine_that_rounding_put_above_one_is_one() -> None:
    assert by_cosine(1.000002) == 1.0


def test_a_cosine_just_under_the_threshold_stays_under_one_half() -> None:
    # (-6e-40 + 1) / (0 + 1) is 1.0 in floating point
    assert by_cosine(-6e-40, 0.0) < 0.5


@pytest.mark.parametrize(
    ("coverage", "identifier", "expected"), [(0.5, False, 0.25), (1.0, False, 0.6), (0.0, True, 0.8)]
)
def test_words_alone_vouch_by_kind(coverage: float, identifier: bool, expected: float) -> None:
    assert confidence(Evidence(0.0, coverage, identifier), 0.30) == expected


def test_the_larger_of_the_two_counts() -> None:
    assert confidence(Evidence(0.65, 1.0, identifier=False), 0.30) == pytest.approx(0.75)
    assert confidence(Evidence(0.31, 1.0, identifier=False), 0.30) == 0.6


@pytest.mark.parametrize(("coverage", "expected"), [(0.0, 0.0), (0.4, 0.4), (0.5, 0.5), (0.9, 0.6), (1.0, 0.6)])
def test_without_a_vector_the_coverage_is_the_confidence_up_to_its_bound(coverage: float, expected: float) -> None:
    assert confidence(Evidence(0.99, coverage, identifier=False), None) == expected


@pytest.mark.parametrize(
    ("sure", "band"), [(1.0, "low"), (0.8, "low"), (0.79, "medium"), (0.5, "medium"), (0.49, "high"), (0.0, "high")]
)
def test_risk_bands(sure: float, band: str) -> None:
    assert risk(sure) == band
