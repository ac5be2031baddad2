"""Figures as they are measured: a row of a Markdown table at once, and all of them as JSON at the end."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from loom_server.evaluation.about import machine, versions
from loom_server.evaluation.measures import percentile


def timed(call: Callable[[], object], times: int) -> list[float]:
    """Milliseconds of each of `times` calls."""
    took: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        took.append((time.perf_counter() - start) * 1000.0)
    return took


@dataclass(slots=True)
class Figures:
    """What a run has measured so far."""

    rows: list[dict[str, object]] = field(default_factory=list[dict[str, object]])

    def head(self, title: str) -> None:
        """Begin a table of times."""
        print(f"\n## {title}\n\n| what | median ms | p95 | p99 |\n|---|---|---|---|", flush=True)

    def times(self, what: str, took: Sequence[float]) -> float:
        """Show milliseconds and give back their median."""
        median, high, highest = (percentile(took, share) for share in (0.5, 0.95, 0.99))
        print(f"| {what} | {median:.1f} | {high:.1f} | {highest:.1f} |", flush=True)
        self.rows.append({"what": what, "median_ms": median, "p95_ms": high, "p99_ms": highest, "runs": len(took)})
        return median

    def figure(self, what: str, value: float, unit: str) -> None:
        """Show one number."""
        print(f"- {what}: {value:,.2f} {unit}", flush=True)
        self.rows.append({"what": what, "value": value, "unit": unit})

    def save(self, path: Path | None) -> None:
        """Write everything, with where and when it was measured."""
        if path is not None:
            path.write_text(json.dumps({"run": place(), "figures": self.rows}, indent=1), encoding="utf-8")


def place() -> dict[str, object]:
    """The machine, the versions, the command and the moment."""
    return {
        "command": " ".join(["python", *sys.argv]),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        **versions(),
    }
