"""What one search writes down on its way: the milliseconds of its stages, the statements
it ran, and where each candidate fell out. `explain` only decides what of it is answered.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Drop:
    """A candidate that was not served: the stage where it fell, and why."""

    row_id: int
    stage: str
    detail: str


@dataclass(slots=True)
class Trace:
    """A recorder that remembers."""

    stages: dict[str, float] = field(default_factory=dict[str, float])
    drops: list[Drop] = field(default_factory=list[Drop])

    def stage(self, name: str, milliseconds: float) -> None:
        """Add to the time of a stage."""
        self.stages[name] = self.stages.get(name, 0.0) + milliseconds

    def dropped(self, row_id: int, stage: str, detail: str) -> None:
        """Remember where a candidate fell."""
        self.drops.append(Drop(row_id, stage, detail))
