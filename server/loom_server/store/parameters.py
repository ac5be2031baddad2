"""Values on their way into a statement.

Moments travel as text in UTC with microseconds: the driver would write them in the zone of the
machine. Everything else goes as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime


def bound(parameters: Mapping[str, object]) -> dict[str, object]:
    """The parameters as the driver takes them. Raises ValueError for a moment without a zone."""
    return {name: moment_text(value) if isinstance(value, datetime) else value for name, value in parameters.items()}


def moment_text(moment: datetime) -> str:
    """A moment as the engine reads it."""
    if moment.tzinfo is None:
        raise ValueError("a moment needs a zone")
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
