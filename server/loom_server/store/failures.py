"""The engine's refusals as errors of the service, without SQL and without values.

| engine's code | raised |
|---|---|
| 159, 160 | DeadlineExceeded |
| 158, 241, 307 | ResourceExhausted |
| 243, or any whose reason is a full disk | ResourceExhausted |
| 394 | Cancelled |
| any other | StatementFailed, with the code and its name |
"""

from __future__ import annotations

import logging

from clickhouse_connect.driver.exceptions import ClickHouseError

from loom_server.errors import Cancelled, DeadlineExceeded, LoomError, ResourceExhausted, StatementFailed

TIMEOUT_CODES = frozenset({159, 160})
RESOURCE_CODES = frozenset({158, 241, 307})
CANCELLED_CODE = 394
NO_SPACE_CODE = 243
_NO_SPACE = "No space left on device"

_LOG = logging.getLogger("loom.store")


def failure(name: str, error: ClickHouseError) -> LoomError:
    """What to raise for the engine's `error` in the statement called `name`."""
    code = getattr(error, "code", None)
    # Not the engine's own text: it repeats values, in quotes and without.
    _LOG.debug("statement %s failed: code %s%s", name, code or "unknown", _called(error))
    if code in TIMEOUT_CODES:
        return DeadlineExceeded(f"Statement {name} ran out of time; raise timeout_ms or narrow the request.")
    if code in RESOURCE_CODES:
        return ResourceExhausted(
            f"Statement {name} passed its memory or row cap; narrow the request or raise LOOM_STATEMENT_MEMORY_BYTES."
        )
    if code == NO_SPACE_CODE or _NO_SPACE in str(error):
        return ResourceExhausted(f"Statement {name} found the disk of the data directory full; free some space there.")
    if code == CANCELLED_CODE:
        return Cancelled(f"Statement {name} was stopped.")
    return StatementFailed(f"The engine refused statement {name} (code {code or 'unknown'}{_called(error)}).")


def _called(error: ClickHouseError) -> str:
    name = getattr(error, "name", None)
    return f", {name}" if name else ""
