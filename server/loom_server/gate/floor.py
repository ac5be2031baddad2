"""The two lines, drawn for each row from its own evidence.

    below_floor      cosine < floor              what `floor_mode` acts on
    below_threshold  cosine < abstain threshold  the row alone would not open the gate

A row with a whole identifier of the question, or with all of its rare terms, is under
neither line. A row without a vector of the live model has cosine 0.

Without a query vector no cosine can be read: no row is below the floor, and the threshold
is a coverage of `WORDS_LINE` of the rare terms.
"""

from __future__ import annotations

from collections.abc import Sequence

from loom_server.gate.evidence import evidence_of, is_exempt, rare_terms
from loom_server.model.candidate import Ranked
from loom_server.model.plan import Plan
from loom_server.model.query import Query
from loom_server.model.verdict import Evidence
from loom_server.model.window import Lines

WORDS_LINE = 0.5
"""Coverage of the rare terms that opens the gate where no cosine can be read, in [0, 1].

On the conversations named in `gate/evidence.py` 64 % of the answerable and 10 % of the
off-topic questions reach it; at 0.67 it is 46 % and 3 %.
"""


def draw_lines(ranked: Sequence[Ranked], query: Query, plan: Plan) -> tuple[Lines, ...]:
    """One value a row, in the same order."""
    rare = rare_terms(query)
    floor = plan.floor if query.has_vector else None
    threshold = threshold_of(query, plan)
    return tuple(_lines(evidence_of(row, rare), floor, threshold) for row in ranked)


def threshold_of(query: Query, plan: Plan) -> float | None:
    """The abstain threshold, or None where the query has no vector to read a cosine with."""
    return plan.abstain_threshold if query.has_vector else None


def below_threshold(found: Evidence, threshold: float | None) -> bool:
    """Whether this evidence leaves the gate closed; a threshold of None reads words alone."""
    if is_exempt(found):
        return False
    return found.rare_coverage < WORDS_LINE if threshold is None else found.similarity < threshold


def _lines(found: Evidence, floor: float | None, threshold: float | None) -> Lines:
    if is_exempt(found):
        return Lines(False, False, _names(found))
    below_floor = floor is not None and found.similarity < floor
    return _UNDER[below_floor, below_threshold(found, threshold)]


def _names(found: Evidence) -> tuple[str, ...]:
    return ("identifier",) * found.identifier + ("rare_terms",) * (found.rare_coverage >= 1.0)


_UNDER = {(floor, threshold): Lines(floor, threshold) for floor in (False, True) for threshold in (False, True)}
"""Rows without exempting evidence differ in nothing else, and there are hundreds of them."""
