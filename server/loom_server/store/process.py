"""This process among those that write to a store: its number, its row ids, its claims.

    number    higher than any so far, with a remainder by 1024 of which no process lives; nobody else has it
    ids       microseconds since 1970 times 1024, plus the number's remainder by 1024

So the ids of two processes differ, and a row tells which process made it. An embedded store has one owner, who
needs no number and counts in the remainder instead.

A process says every BEAT_S that it is there, and leaves when it ends well. One that has said nothing for GONE_S has
died; what it left half done is swept by another (`keep/fallen.py`).

Limits: a process that the store does not hear of for GONE_S while it lives is taken for dead. It may write again
later; the counts of its last moments may then be in the roll-ups twice, until `loom doctor --mend`.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from secrets import token_hex
from threading import Event, Thread
from typing import cast

from loom_server.errors import StoreError, StoreUnavailable
from loom_server.model.clock import IDS_PER_MICROSECOND, Clock, RowIds
from loom_server.store.claims import Claims
from loom_server.store.store import Insert, Statement, Store

BEAT_S = 20.0
GONE_S = 120.0
TRIES = 50
LONGEST_WAIT_S = 0.2

_LAST_ID = Statement("process.last_id", "SELECT max(id) AS id FROM loom.memory")
_LAST = Statement("process.last", "SELECT max(number) AS number FROM loom.processes")
_TAGS = """
SELECT DISTINCT number % {tags:UInt64} AS tag
FROM loom.processes
GROUP BY number, owner
HAVING argMax(state, at) IN ('joined', 'here')
"""
_SHARERS = "SELECT count() AS sharers FROM loom.processes WHERE number = {number:UInt64} AND owner != {owner:String}"
_FALLEN = """
SELECT number, owner, toUnixTimestamp64Micro(toDateTime64(max(at), 6, 'UTC')) AS last
FROM loom.processes
GROUP BY number, owner
HAVING argMax(state, at) IN ('joined', 'here') AND max(at) < now64(3) - toIntervalSecond({gone:UInt32})
ORDER BY number
"""


@dataclass(frozen=True, slots=True)
class Fallen:
    """A process that died, and the last moment at which it was seen, in microseconds since 1970."""

    number: int
    owner: str
    last: int


class Process:
    """Who writes here; `claims` are None where nobody else does."""

    def __init__(self, ids: RowIds, claims: Claims | None = None, membership: Membership | None = None) -> None:
        self.ids = ids
        self.claims = claims
        self.membership = membership

    @classmethod
    def alone(cls, store: Store, clock: Clock) -> Process:
        """The owner of a store; its ids go on above the highest one."""
        return cls(RowIds(clock, _last_id(store)))

    @classmethod
    def join(cls, store: Store, clock: Clock, timeout_s: float) -> Process:
        """One of several on a store; `timeout_s` is the longest run of a statement. Raises a `StoreError`."""
        membership = Membership.join(store)
        ids = RowIds(clock, _last_id(store), tag=membership.number % IDS_PER_MICROSECOND)
        return cls(ids, Claims(store, ids.next, timeout_s), membership)

    def close(self, settled: bool = True) -> None:
        """Leave, where there are others; where not everything is settled, they will take this one for dead."""
        if self.membership is not None:
            self.membership.leave(settled)


class Membership:
    """A number among the processes of a store, kept up by a thread until `leave`."""

    def __init__(self, store: Store, number: int, owner: str) -> None:
        self.number = number
        self._store = store
        self._owner = owner
        self._left = Event()
        self._thread = Thread(target=self._beat, name="loom-here", daemon=True)
        self._thread.start()

    @classmethod
    def join(cls, store: Store) -> Membership:
        """Take the next number. Raises `StoreUnavailable` where others take each one first."""
        owner = token_hex(8)
        for _ in range(TRIES):
            number = _next_number(store)
            _say(store, number, owner, "joined")
            sharers = store.query(Statement("process.sharers", _SHARERS, {"number": number, "owner": owner}))
            if not sharers.column("sharers")[0]:
                return cls(store, number, owner)
            _say(store, number, owner, "left")
            time.sleep(random.uniform(0, LONGEST_WAIT_S))  # noqa: S311
        raise StoreUnavailable("Too many processes start on this store at once; start this one again.")

    def leave(self, settled: bool = True) -> None:
        """Say no more that this process is there, and that it ended well if it did; may be called again."""
        if self._left.is_set():
            return
        self._left.set()
        self._thread.join()
        if settled:
            _say(self._store, self.number, self._owner, "left")

    def _beat(self) -> None:
        while not self._left.wait(BEAT_S):
            try:
                _say(self._store, self.number, self._owner, "here")
            except StoreError:
                continue  # the store is away; whoever writes hears of it


def fallen(store: Store, gone_s: float = GONE_S) -> list[Fallen]:
    """The processes that died and were not swept after."""
    rows = store.query(Statement("process.fallen", _FALLEN, {"gone": int(gone_s)})).rows()
    return [Fallen(*cast("tuple[int, str, int]", row)) for row in rows]


def swept(store: Store, one: Fallen) -> None:
    """Say that nothing is left to do after a process that died."""
    _say(store, one.number, one.owner, "swept")


def _next_number(store: Store) -> int:
    number = cast(int, store.query(_LAST).column("number")[0]) + 1
    taken = set(store.query(Statement("process.tags", _TAGS, {"tags": IDS_PER_MICROSECOND})).column("tag"))
    return next(one for one in range(number, number + IDS_PER_MICROSECOND) if one % IDS_PER_MICROSECOND not in taken)


def _last_id(store: Store) -> int:
    return cast(int, store.query(_LAST_ID).column("id")[0])


def _say(store: Store, number: int, owner: str, state: str) -> None:
    store.insert(Insert("processes", ("number", "owner", "state"), ([number], [owner], [state])))
