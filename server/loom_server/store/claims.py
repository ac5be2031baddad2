"""Who may write the next version of a key, where several processes write to one store.

    put a claim down for (key, version)  ->  look for another's
        none            nobody else writes that version: every later claimant sees this one and steps back
        one is there    withdraw, wait a moment, judge again by what is stored by then

Each puts its claim down before it looks, so that of two that overlap at least one sees the other; both
may, and both then step back. A claim is not taken back after a commit: it keeps out whoever judged by what
was stored before it. It is void `life_s` after it was made, so a process that dies holds its keys no longer.

    life_s  =  2 * within_s + the longest run of a statement + SLACK_S

A holder begins its commit `within_s` of the claim or gives up, and whoever looks has judged no more than
COMMIT_WITHIN_S before: no commit that a judgement has missed outlives its claim.

Limits: reads must see what was written before them; over replicas that takes `select_sequential_consistency` and a
quorum. Ages are told by the server's clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from math import ceil
from operator import attrgetter
from typing import NamedTuple, cast

from loom_server.errors import StoreUnavailable
from loom_server.model.clock import IDS_PER_MICROSECOND
from loom_server.model.memory import Key
from loom_server.store.named import NamedTemplate, parts_of
from loom_server.store.store import Insert, Store

COMMIT_WITHIN_S = 10.0
SLACK_S = 10.0
WAITS_S = (0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 0.64, 0.64, 1.0, 1.0)
"""Longest waits between tries of who is contested; a commit takes 0.05 to 0.1 s, and longer on a busy machine."""
_COLUMNS = (
    "org", "namespace", "agent", "user_id", "session_id", "memory_key", "version", "claimant", "withdrawn", "seconds",
)  # fmt: skip
_RIVALS = NamedTemplate(
    "claims.rivals",
    """
    SELECT org, namespace, agent, user_id, session_id, memory_key, version
    FROM loom.claims
    WHERE /*keys*/ AND version IN {versions:Array(UInt64)} AND claimant % {tags:UInt64} != {tag:UInt64}
    GROUP BY org, namespace, agent, user_id, session_id, memory_key, version, claimant
    HAVING max(withdrawn) = 0 AND max(at + toIntervalSecond(seconds)) > now64(3)
    """,
)


class Claim(NamedTuple):
    """The wish to write `version` of a key."""

    key: Key
    version: int


@dataclass(frozen=True, slots=True)
class Claimed:
    """What came of claiming: the claims, or those of them that others have.

    They are good until the monotonic moment `until`, and keep others out for `seconds`.
    """

    claims: frozenset[Claim]
    claimant: int
    until: float
    seconds: int
    contested: frozenset[Claim] = frozenset()


class Claims:
    """The claims of one process, told from others' by the last digits of its row ids; safe from many threads."""

    def __init__(
        self,
        store: Store,
        next_id: Callable[[], int],
        timeout_s: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`timeout_s` is the longest run of a statement."""
        self._store = store
        self._next_id = next_id
        self._timeout_s = timeout_s
        self._monotonic = monotonic

    def take(self, wanted: Collection[Claim], judged_at: float, within_s: float = COMMIT_WITHIN_S) -> Claimed:
        """Claim all of them, for versions judged at the monotonic moment `judged_at`.

        Where the answer names contested ones, nothing is held.
        """
        seconds = ceil(2 * within_s + self._timeout_s + SLACK_S)
        claimed = Claimed(frozenset(wanted), self._next_id(), self._monotonic() + within_s, seconds)
        if not wanted:
            return claimed
        self._put(claimed, withdrawn=0)
        contested = self._rivals(claimed)
        if self._monotonic() - judged_at > COMMIT_WITHIN_S:
            contested = claimed.claims
        if contested:
            self.give_back(claimed)
        return replace(claimed, contested=contested)

    def check(self, claimed: Claimed) -> None:
        """Raise `StoreUnavailable` where the claims are too old to begin a commit by."""
        if self._monotonic() > claimed.until:
            raise StoreUnavailable("The store took too long before the write could begin; nothing was written.")

    def give_back(self, claimed: Claimed) -> None:
        """Let others have what was claimed; nothing was committed by it."""
        self._put(claimed, withdrawn=1)

    def _rivals(self, claimed: Claimed) -> frozenset[Claim]:
        parameters = {
            "versions": sorted({claim.version for claim in claimed.claims}),
            "tags": IDS_PER_MICROSECOND,
            "tag": claimed.claimant % IDS_PER_MICROSECOND,
        }
        parts = parts_of(list(claimed.claims), attrgetter("key"))
        found = (self._store.query(_RIVALS.keys([claim.key for claim in part], parameters)).rows() for part in parts)
        return claimed.claims & {_claim(row) for rows in found for row in rows}

    def _put(self, claimed: Claimed, withdrawn: int) -> None:
        claims = tuple(claimed.claims)
        keys = [claim.key for claim in claims]
        data = (
            [key.org for key in keys],
            [key.namespace for key in keys],
            [key.agent for key in keys],
            [key.user_id for key in keys],
            [key.session_id for key in keys],
            [key.memory_key for key in keys],
            [claim.version for claim in claims],
            [claimed.claimant] * len(keys),
            [withdrawn] * len(keys),
            [claimed.seconds] * len(keys),
        )
        self._store.insert(Insert("claims", _COLUMNS, data))


def _claim(row: Sequence[object]) -> Claim:
    return Claim(Key(*cast("tuple[str, str, str, str, str, str]", tuple(row[:6]))), cast(int, row[6]))
