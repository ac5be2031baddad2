"""Reading memories by key: the newest version, a page of keys, a key's history.

The newest version of a key decides: where it is a tombstone, or its time to live is over, the
key is gone, whatever stands below it. A page is a keyset page: it continues after the last key
it served, so rows written meanwhile neither repeat nor hide others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from loom_server.engine.rows import COLUMNS, memories
from loom_server.model.deadline import Deadline
from loom_server.model.memory import Memory
from loom_server.model.scope import NONE, Filters, Scope
from loom_server.store.statement import Template
from loom_server.store.store import Store

_BY_KEY = Template(
    "memory.by_key",
    f"""
SELECT {COLUMNS}
FROM loom.memory
WHERE /*scope*/ AND memory_key = {{memory_key:String}} AND created_at <= {{as_of:DateTime64(3, 'UTC')}}
ORDER BY version DESC, id DESC
LIMIT 1 BY agent, user_id, session_id
""",
)

_HISTORY = Template(
    "memory.history",
    f"""
SELECT {COLUMNS}
FROM loom.memory
WHERE /*scope*/ AND memory_key = {{memory_key:String}}
ORDER BY version DESC, id DESC
LIMIT {{limit:UInt32}}
""",
)

_LISTED = """
FROM loom.memory
WHERE /*scope*/ AND startsWith(memory_key, {prefix:String}) AND status IN {statuses:Array(String)} AND /*filters*/
    AND (expires_at IS NULL OR expires_at > {moment:DateTime64(3, 'UTC')})
"""

_PAGE = f"""
SELECT {COLUMNS} {_LISTED}
    AND (memory_key, agent, user_id, session_id, version)
        > ({{after_key:String}}, {{after_agent:String}}, {{after_user:String}}, {{after_session:String}},
           {{after_version:UInt32}})
ORDER BY memory_key, agent, user_id, session_id, version"""

# Between a commit and the mark on the version that it ends, a key has two live versions.
_LIST = Template(
    "memory.list", f"{_PAGE} DESC LIMIT 1 BY memory_key, agent, user_id, session_id LIMIT {{limit:UInt32}}"
)
_LIST_ALL = Template("memory.list_all", f"{_PAGE} LIMIT {{limit:UInt32}}")
_COUNT = Template("memory.count", f"SELECT uniqExact(memory_key, agent, user_id, session_id) AS total {_LISTED}")
_COUNT_ALL = Template("memory.count_all", f"SELECT count() AS total {_LISTED}")

START = ("", "", "", "", 0)
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
FAR_FUTURE = datetime(2200, 1, 1, tzinfo=UTC)
Place = tuple[str, str, str, str, int]


@dataclass(frozen=True, slots=True)
class Listing:
    """What a page of `memory.list` asks for; `after` is the place of the row before it.

    Rows whose time to live is over at `moment` are left out; by default none is.
    """

    prefix: str = ""
    filters: Filters = Filters()
    include_superseded: bool = False
    moment: datetime = LONG_AGO
    after: Place = START
    limit: int = 100

    @property
    def parameters(self) -> Mapping[str, object]:
        """The values that the listing statements take."""
        key, agent, user, session, version = self.after
        statuses = ["live", "superseded"] if self.include_superseded else ["live"]
        return {
            "prefix": self.prefix,
            "statuses": statuses,
            "moment": self.moment,
            "after_key": key,
            "after_agent": agent,
            "after_user": user,
            "after_session": session,
            "after_version": version,
            "limit": self.limit,
        }


def by_key(
    store: Store, scope: Scope, memory_key: str, deadline: Deadline, as_of: datetime | None = None
) -> tuple[Memory, ...]:
    """The newest version of the key under each writer that holds it, expired or not; tombstones left out."""
    parameters = {"memory_key": memory_key, "as_of": as_of or FAR_FUTURE}
    # The run is asked last: the newest version that it wrote may be one that another has replaced.
    found = memories(store.query(_BY_KEY.bind(replace(scope, run_id=None), parameters), deadline))
    return tuple(memory for memory in found if memory.status != "tombstoned" and _of_run(memory, scope.run_id))


def unexpired(found: Iterable[Memory], moment: datetime) -> tuple[Memory, ...]:
    """Those of the memories whose time to live is not over at the moment."""
    return tuple(memory for memory in found if memory.expires_at is None or memory.expires_at > moment)


def history(store: Store, scope: Scope, memory_key: str, limit: int, deadline: Deadline) -> tuple[Memory, ...]:
    """Every version of the key in the scope, newest first."""
    statement = _HISTORY.bind(scope, {"memory_key": memory_key, "limit": limit})
    return tuple(memories(store.query(statement, deadline)))


def page(store: Store, scope: Scope, listing: Listing, deadline: Deadline) -> tuple[Memory, ...]:
    """One page of keys, in key order."""
    template = _LIST_ALL if listing.include_superseded else _LIST
    statement = template.bind(scope, listing.parameters, filters=listing.filters)
    return tuple(memories(store.query(statement, deadline)))


def count(store: Store, scope: Scope, listing: Listing, deadline: Deadline) -> int:
    """How many rows all pages of the listing hold."""
    parameters = {name: listing.parameters[name] for name in ("prefix", "statuses", "moment")}
    template = _COUNT_ALL if listing.include_superseded else _COUNT
    found = store.query(template.bind(scope, parameters, filters=listing.filters), deadline)
    return int(str(found.column("total")[0]))


def _of_run(memory: Memory, run_id: str | None) -> bool:
    return run_id is None or memory.identity.run_id == ("" if run_id == NONE else run_id)


def place_of(memory: Memory) -> Place:
    """Where a page that ends with this row stopped."""
    identity = memory.identity
    return (memory.memory_key, identity.agent, identity.user_id, identity.session_id, memory.version)
