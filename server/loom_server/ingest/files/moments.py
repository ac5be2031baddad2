"""Written moments into UTC: ISO 8601, a bare date (its midnight), or seconds since 1970.

A moment without a zone is taken as UTC: the file does not say where it was written.
"""

from __future__ import annotations

from datetime import UTC, datetime


def moment(value: object) -> str | None:
    """The moment as ISO 8601 with a zone, or None where `value` is not one."""
    found = _parse(value)
    if found is None:
        return None
    return found.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _parse(value: object) -> datetime | None:
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value.strip())
            return found if found.tzinfo else found.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
