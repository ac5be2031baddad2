"""How sure one row's evidence makes us, until a calibration says it as a probability.

    by cosine s, threshold t      s >= t: ½ + ½ (s - t) / (1 - t)      s < t: ½ · s / t, not below 0
    by words, coverage c          identifier: 0.8     c = 1: 0.6       c < 1: ½ c
    confidence = the larger of the two

This is the scalar tier: a map of the thresholds onto [0, 1], not a probability. It rises
with either kind of evidence and is 0.5 or more exactly where the gate is open, so the two
never disagree. Where the query has no vector, words alone count: min(c, 0.6).

Limit: cosines of embedders are not comparable with each other, and so neither are these
numbers until a calibration takes their place.
"""

from __future__ import annotations

from math import nextafter

from loom_server.model.verdict import Evidence, Risk

OPEN = 0.5
"""Confidence of a row exactly on the threshold."""

IDENTIFIER = 0.8
"""A row that carries the question's identifier whole is surely about it."""

ALL_RARE_TERMS = 0.6
"""All rare words in one row: likely about the question, though another may have done it."""

LOW_RISK, MEDIUM_RISK = 0.8, 0.5


def confidence(found: Evidence, threshold: float | None) -> float:
    """In [0, 1]; `threshold` is None where the query has no vector."""
    words = _by_words(found, alone=threshold is None)
    return words if threshold is None else max(words, _by_cosine(found.similarity, threshold))


def risk(sure: float) -> Risk:
    """The band of an open gate: low from 0.8 on, medium from 0.5 on, else high."""
    if sure >= LOW_RISK:
        return "low"
    return "medium" if sure >= MEDIUM_RISK else "high"


def _by_cosine(similarity: float, threshold: float) -> float:
    if similarity >= threshold:
        above = (similarity - threshold) / (1.0 - threshold) if threshold < 1.0 else 0.0
        return min(1.0, OPEN + (1.0 - OPEN) * above)
    # Nothing below 0 speaks for a row, unless the threshold itself lies there.
    lowest = 0.0 if threshold > 0.0 else -1.0
    share = (similarity - lowest) / (threshold - lowest) if threshold > lowest else 0.0
    # Division may round a share just below 1 up to it, and the gate is still closed.
    return min(OPEN * max(0.0, share), nextafter(OPEN, 0.0))


def _by_words(found: Evidence, *, alone: bool) -> float:
    if found.identifier:
        return IDENTIFIER
    if alone:
        return min(found.rare_coverage, ALL_RARE_TERMS)
    return ALL_RARE_TERMS if found.rare_coverage >= 1.0 else OPEN * found.rare_coverage
