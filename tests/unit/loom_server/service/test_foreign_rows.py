"""Rows of another tenant in every table change nothing that a tenant can see or reach.

The same keys and the same words stand in another org, in another namespace of the same org, and
are written, superseded and deleted there; each answer is compared whole, before and after.
"""

from __future__ import annotations

import pytest

from loom_server.model.deadline import Deadline
from loom_server.service.services import Services
from loom_server.store.statement import TENANT_TABLES
from loom_server.store.store import Statement
from spaces import Space

ROWS = {
    "db/primary": "The primary database runs PostgreSQL 16 on host atlas-3",
    "team/lead": "Ana Moreira leads the storage team from Lisbon",
    "ticket": "PROJ-4711 is closed: the cache forgot its keys",
}
QUESTIONS = (
    "who leads the storage team",
    "PROJ-4711",
    "the primary database host",
    "velvet trombone",
    "secret harbour",
)
MODES = ("semantic", "rrf", "hybrid", "bm25_hybrid", "lexical")
TIMED = {"retrieval_work"}


@pytest.fixture
def mine(services: Services, org: str) -> Space:
    space = Space(services, org)
    space.fill(ROWS, agent="one")
    return space


def seen(space: Space) -> list[object]:
    """Everything that the reading operations answer."""
    answers: list[object] = [
        space.search(question, search_mode=mode, explain=True, top_k=20, **more).model_dump(exclude=TIMED)
        for question in QUESTIONS
        for mode in MODES
        for more in ({}, {"include_superseded": True})
    ]
    answers += [space.get(key).model_dump() for key in ROWS] + [space.history(key).model_dump() for key in ROWS]
    return [*answers, space.list(include_superseded=True).model_dump(), space.list(count_only=True).model_dump()]


def flood(foreign: Space) -> None:
    """The same keys, words of its own, versions and a tombstone."""
    foreign.fill({key: f"{text} and the secret harbour of the velvet trombone" for key, text in ROWS.items()})
    foreign.fill({f"extra/{n}": f"secret harbour number {n} of the storage team PROJ-4711" for n in range(30)})
    foreign.set("team/lead", "Somebody else leads the secret harbour")
    foreign.delete("ticket")
    foreign.prefer(retrieval_defaults={"search_mode": "lexical", "top_k": 1})


UNSEEN = {"claims", "idempotency"}
"""Tables that no read and no search looks at."""


@pytest.mark.parametrize(
    "whose", [{"org": "foreign"}, {"namespace": "foreign"}], ids=["another org", "another namespace"]
)
def test_nothing_of_another_tenant_is_seen(mine: Space, whose: dict[str, str]) -> None:
    before = seen(mine)
    foreign = mine.other(**{name: f"{value}-{mine.tenant['org']}" for name, value in whose.items()})
    flood(foreign)
    assert seen(mine) == before
    foreign.services.writer.between_groups(lambda: None, Deadline(20))  # roll-ups are owed for a moment
    for table in set(TENANT_TABLES) - UNSEEN:
        counted = Statement(
            "test", f"SELECT count() FROM loom.{table} WHERE org = {{o:String}} AND namespace = {{n:String}}"
        )
        parameters = {"o": foreign.tenant["org"], "n": foreign.tenant["namespace"]}
        planted = mine.services.searcher.store.query(Statement(counted.name, counted.sql, parameters))
        assert planted.column("count()")[0], (
            f"the foreign tenant has no row in {table}, so this test shows nothing of it"
        )


def test_writes_reach_no_other_tenant(mine: Space) -> None:
    foreign = mine.other(org=f"foreign-{mine.tenant['org']}")
    foreign.fill(ROWS, agent="one")
    before = seen(foreign)
    mine.update("team/lead", value="Bruno leads it now")
    mine.delete("ticket")
    mine.set("db/primary", "It moved", agent="one")
    assert seen(foreign) == before


def test_another_agent_is_reached_only_where_the_scope_says_so(mine: Space) -> None:
    assert mine.search("who leads the storage team", scope="agent", agent="two").abstain_code == "no_match"
    assert mine.keys("who leads the storage team", scope="agent", agent="one")[0] == "team/lead"
    assert not mine.get("team/lead", agent="two").found
    assert not mine.delete("team/lead", agent="two").found
    assert mine.get("team/lead", agent="one").found


def test_a_cursor_of_another_tenant_opens_nothing(mine: Space) -> None:
    from loom_server.errors import InvalidInput

    cursor = mine.list(limit=1).next_cursor
    with pytest.raises(InvalidInput, match="cursor"):
        mine.other(org="foreign").list(limit=1, cursor=cursor)
