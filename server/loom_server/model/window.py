"""The rows that a search serves, and where the others fell.

    rows + drops = ranked        every row that came in is in exactly one of them

A drop names its stage and what would have kept the row, so that `explain` and the verdict
read the same account.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from loom_server.model.candidate import Ranked

DropStage = Literal["superseded", "tombstoned", "expired", "per_key_cap", "excluded", "floor", "window"]


@dataclass(frozen=True, slots=True)
class Lines:
    """Where a row stands to the two lines, and the evidence that exempts it from both."""

    below_floor: bool
    below_threshold: bool
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drop:
    """A ranked row that is not served: the stage where it fell, and what would have kept it."""

    row_id: int
    stage: DropStage
    detail: str


@dataclass(frozen=True, slots=True)
class Window:
    """The served rows, best first, with their lines drawn.

    `fallen` were left out by a rule, `beyond` by `top_k` alone, in the order in which they
    would have followed; `before` stand on earlier pages. `ranked` counts the rows that came
    in, `below_floor` those under the floor, kept or not, among the rows that may be seen.
    `best_similarity` is over all that may be served, so that no verdict depends on the size
    of the page. `without_body` are the ids served with an empty body.
    """

    rows: tuple[Ranked, ...]
    fallen: tuple[Drop, ...]
    beyond: tuple[Ranked, ...]
    ranked: int
    below_floor: int
    best_similarity: float
    without_body: frozenset[int]
    before: tuple[Ranked, ...] = ()

    @property
    def ordered(self) -> tuple[Ranked, ...]:
        """Every row that may be served, on whichever page, best first."""
        return (*self.before, *self.rows, *self.beyond)

    @property
    def first(self) -> Ranked | None:
        """The best row of all pages, None where nothing may be served."""
        return next((rows[0] for rows in (self.before, self.rows, self.beyond) if rows), None)

    @property
    def drops(self) -> tuple[Drop, ...]:
        """Every row that is not served. Spelt out on demand: plain searches do not ask."""
        ends = len(self.before) + len(self.rows)
        earlier = (
            Drop(row.memory.id, "window", f"place {place} is on an earlier page")
            for place, row in enumerate(self.before, 1)
        )
        cut = (
            Drop(row.memory.id, "window", f"place {place} is beyond top_k {ends}")
            for place, row in enumerate(self.beyond, ends + 1)
        )
        return (*self.fallen, *earlier, *cut)

    @property
    def counts(self) -> Mapping[DropStage, int]:
        """How many rows fell at each stage."""
        counts: Counter[DropStage] = Counter(drop.stage for drop in self.fallen)
        counts["window"] += len(self.before) + len(self.beyond)
        return +counts
