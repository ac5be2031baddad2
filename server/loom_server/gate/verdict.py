"""The verdict: may the window be used as an answer.

    page_expired      the ranking that a page goes on with has changed; told where pages are turned
    no_match          nothing is left to serve
    entity_absent     the question names a thing by its identifier, and no row knows it
    below_threshold   the first row's evidence does not reach the abstain threshold

Precedence: page_expired > no_match > entity_absent > below_threshold >
low_calibrated_confidence, of which calibration brings the last.

A verdict is on the whole search, so it is the same on every page.
The gate reads absolute evidence of the first row of all, never a fused score: its cosine (or the
best of the window, where `top_similarity` is `window`), a whole identifier, its share of
the rare terms. An abstain leaves the rows as they are; its reason is a sentence that says
what was missing, or which kind of empty an empty answer is.
"""

from __future__ import annotations

from dataclasses import replace

from loom_server.gate.absent import absent_identifiers
from loom_server.gate.confidence import confidence, risk
from loom_server.gate.evidence import RareTerms, evidence_of, is_exempt, rare_terms
from loom_server.gate.floor import WORDS_LINE, below_threshold, threshold_of
from loom_server.model.candidate import Ranked
from loom_server.model.plan import Plan
from loom_server.model.query import Query
from loom_server.model.verdict import Evidence, Verdict
from loom_server.model.window import DropStage, Window

NOT_OPEN = 0.49
"""Most confidence of a closed gate, below the 0.5 at which it opens."""

MISSING_NAMED = 5
"""Most missing terms that a reason spells out."""

PAGE_EXPIRED = Verdict(
    True,
    "page_expired",
    "Rows were written, deleted or ended since, and the ranking that this page goes on with has changed.",
    0.0,
    "abstain",
)

_FELL: dict[DropStage, str] = {
    "superseded": "superseded by a later version",
    "tombstoned": "deleted",
    "expired": "expired",
    "per_key_cap": "over the cap of their key",
    "excluded": "in exclude_keys",
    "floor": "under the floor while floor_mode is drop",
    "window": "beyond top_k",
}


def judge(window: Window, query: Query, plan: Plan) -> Verdict:
    """The verdict on a window whose rows are in their final order."""
    first = window.first
    if first is None:
        return Verdict(True, "no_match", _why_empty(window, query, plan), 0.0, "abstain")
    rare = rare_terms(query)
    threshold = threshold_of(query, plan)
    found = evidence_of(first, rare)
    if plan.top_similarity == "window":
        found = replace(found, similarity=window.best_similarity)
    if absent := absent_identifiers(query, first.candidate.matched):
        return Verdict(True, "entity_absent", _why_absent(absent), _by_words_alone(found, threshold), "abstain")
    sure = confidence(found, threshold)
    if not below_threshold(found, threshold):
        return Verdict(False, None, _why_open(found, threshold, plan), sure, risk(sure))
    reason = _why_closed(found, threshold, plan) + _missing(first, query, rare)
    return Verdict(True, "below_threshold", reason, sure, "abstain")


def _by_words_alone(found: Evidence, threshold: float | None) -> float:
    """A cosine near to another thing's number is no evidence of this one."""
    return min(NOT_OPEN, confidence(replace(found, similarity=-1.0), threshold))


def _why_absent(absent: tuple[str, ...]) -> str:
    named = ", ".join(absent[:MISSING_NAMED])
    return f"No memory of the namespace holds {named}, and the first row is about something else."


def _why_empty(window: Window, query: Query, plan: Plan) -> str:
    if window.ranked:
        return _why_all_fell(window)
    if not query.documents:
        return "The namespace holds no memory yet."
    if not plan.legs:
        return "The query has nothing to search by: no vector and no term."
    return "The namespace holds memories, but none in the scope and filters of this search matched."


def _why_all_fell(window: Window) -> str:
    fell = [f"{count} {_FELL[stage]}" for stage, count in window.counts.items()]
    found = "The one row found was" if window.ranked == 1 else f"All {window.ranked} rows found were"
    return f"{found} left out: {', '.join(fell)}."


def _why_open(found: Evidence, threshold: float | None, plan: Plan) -> str:
    if found.identifier:
        return "The first row carries an identifier of the query whole."
    if is_exempt(found):
        return "The first row carries every rare term of the query."
    if threshold is None:
        return f"No query vector, so words alone were read: {_coverage(found)} reaches {WORDS_LINE:.2f}."
    return f"{_cosine(found, plan)} reaches the threshold {threshold:.2f}."


def _why_closed(found: Evidence, threshold: float | None, plan: Plan) -> str:
    if threshold is None:
        return f"No query vector, so words alone were read: {_coverage(found)} is under {WORDS_LINE:.2f}."
    return f"{_cosine(found, plan)} is under the threshold {threshold:.2f}."


def _cosine(found: Evidence, plan: Plan) -> str:
    whose = "The window's best" if plan.top_similarity == "window" else "The first row's"
    return f"{whose} similarity {found.similarity:.2f}"


def _coverage(found: Evidence) -> str:
    return f"the first row's share of the rare terms, {found.rare_coverage:.2f},"


def _missing(first: Ranked, query: Query, rare: RareTerms) -> str:
    slots = rare.missing(first.candidate.matched)
    if not slots:
        return ""
    named = ", ".join(query.terms[slot].text for slot in slots[:MISSING_NAMED])
    more = f" and {len(slots) - MISSING_NAMED} more" if len(slots) > MISSING_NAMED else ""
    return f" It does not say: {named}{more}."
