"""What the doors answered: a count for the metrics, and at debug a line of the log for each call that was refused.

Door and operation are told from the path and put into closed sets; nothing else of a request is looked at.
"""

from __future__ import annotations

from http import HTTPStatus

from loom_server.errors import LoomError
from loom_server.observe import logs
from loom_server.observe.labels import OPERATIONS, OTHER
from loom_server.observe.metrics import Metrics

METRICS_PATH = "/metrics"
RPC_PATH = "/rpc"
_OPERATION_PATH = "/v1/"
_HEALTH = {"/v1/health": "ops.health", "/health/ready": "ops.health", "/health/live": OTHER, "/health/startup": OTHER}


class Tally:
    """Counts answers, where there are metrics."""

    def __init__(self, metrics: Metrics | None = None) -> None:
        self._metrics = metrics

    def answered(self, place: tuple[str, str], status: int, code: str, request_id: str) -> None:
        """A call was answered. `place` is its door and operation, `code` that of its error, or empty."""
        door, operation = place[0], place[1] if place[1] in OPERATIONS else OTHER
        if self._metrics is not None:
            self._metrics.answered(door, operation, status)
        if status >= HTTPStatus.BAD_REQUEST:
            logs.refused(door, operation, status, code, request_id)

    def called(self, method: str, error: LoomError | None, request_id: str) -> None:
        """A call of JSON-RPC was answered; its status is the one that HTTP would have had."""
        place = ("rpc", method)
        if error is None:
            self.answered(place, HTTPStatus.OK, "", request_id)
        else:
            self.answered(place, error.http_status, error.code, request_id)


def place_of(path: str) -> tuple[str, str]:
    """The door and the operation of a path; each is `other` where the path has none."""
    if path in _HEALTH:
        return "health", _HEALTH[path]
    if path == METRICS_PATH:
        return "metrics", OTHER
    if path == RPC_PATH:
        return "rpc", OTHER
    operation = path.removeprefix(_OPERATION_PATH)
    return ("http", operation) if operation in OPERATIONS else (OTHER, OTHER)
