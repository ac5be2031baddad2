"""Why a request to a remote embedder failed, in the same few kinds for every provider.

    kind          such as                          again   counts
    timeout       no answer in time                yes     yes
    unreachable   no connection, or it broke       yes     yes
    limited       429                              yes     yes
    failed        5xx, 408, 409, 425               yes     yes
    denied        401, 403, 404                    no      yes
    refused       another 4xx                      no      no
    junk          an answer that holds no vectors  no      no

`again`: the same request may succeed a moment later. `counts`: it says something of the endpoint and not of
the texts, so it counts towards leaving the endpoint alone. A sentence never holds the answer's body, which may
repeat the key or the text.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal

Kind = Literal["timeout", "unreachable", "limited", "failed", "denied", "refused", "junk"]

AGAIN: frozenset[Kind] = frozenset({"timeout", "unreachable", "limited", "failed"})
COUNTS: frozenset[Kind] = AGAIN | frozenset[Kind]({"denied"})

_PASSING = frozenset({408, 409, 425})
_DENIED = frozenset({401, 403, 404})
_SENTENCES: Mapping[Kind, str] = {
    "timeout": "did not answer in time",
    "unreachable": "cannot be reached; check LOOM_EMBEDDER_BASE_URL and the network",
    "limited": "takes no more requests for now",
    "failed": "failed",
    "denied": "denied the request; check LOOM_EMBEDDER_API_KEY, or the AWS credentials of bedrock",
    "refused": "refused the request; check LOOM_EMBEDDER_MODEL and LOOM_EMBEDDER_DIMENSION",
    "junk": "answered with something else than a vector for each text",
}
_NOT_FOUND = "does not know the model or the path; check LOOM_EMBEDDER_MODEL and LOOM_EMBEDDER_BASE_URL"


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed request. `status` is that of the answer, `after_s` the seconds that the endpoint asked to wait."""

    kind: Kind
    status: int | None = None
    after_s: float | None = None

    @property
    def again(self) -> bool:
        """Whether the same request may succeed a moment later."""
        return self.kind in AGAIN

    @property
    def counts(self) -> bool:
        """Whether it says something of the endpoint."""
        return self.kind in COUNTS

    def sentence(self) -> str:
        """For people, after the name of the embedder."""
        told = _NOT_FOUND if self.status == 404 else _SENTENCES[self.kind]
        return told if self.status is None else f"{told} (HTTP {self.status})"


def of_status(status: int, headers: Mapping[str, str] | None) -> Failure:
    """The failure that an answer's status and headers tell."""
    after = wait_of(headers or {})
    if status == 429:
        return Failure("limited", status, after)
    if status >= 500 or status in _PASSING:
        return Failure("failed", status, after)
    return Failure("denied" if status in _DENIED else "refused", status)


def wait_of(headers: Mapping[str, str]) -> float | None:
    """Seconds of Retry-After, which holds seconds or a date; None where it holds neither."""
    told = next((value for name, value in headers.items() if name.lower() == "retry-after"), "").strip()
    try:
        return max(0.0, float(told)) if told[:1].isdigit() else _until(told)
    except (ValueError, TypeError, OverflowError):
        return None


def _until(date: str) -> float | None:
    return max(0.0, parsedate_to_datetime(date).timestamp() - time.time()) if date else None
