"""The rank expression: a row's score is the sum of its components, in their listed order.

    rank_score = fsum(components)

`math.fsum` rounds once, so anyone who adds the listed components with it gets the very
number that ordered the rows. Bounded rank terms append their components after those of
the mode's relevance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from operator import attrgetter

from loom_server.model.candidate import Candidate, Ranked, Relevance
from loom_server.model.memory import Memory


def rank(
    pool: Sequence[Candidate], relevances: Mapping[int, Relevance], memories: Mapping[int, Memory]
) -> tuple[Ranked, ...]:
    """The rows that exist and are in the mode's order, in the one total order."""
    rows = [
        _ranked(candidate, relevances[candidate.id], memories[candidate.id])
        for candidate in pool
        if candidate.id in relevances and candidate.id in memories
    ]
    return tuple(sorted(rows, key=attrgetter("order_key")))


def _ranked(candidate: Candidate, relevance: Relevance, memory: Memory) -> Ranked:
    return Ranked(
        memory=memory,
        candidate=candidate,
        rank_score=fsum(amount for _, amount in relevance.components),
        tie=relevance.tie,
        components=relevance.components,
        similarity=0.0 if candidate.similarity is None else candidate.similarity,
    )
