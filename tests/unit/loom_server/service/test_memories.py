"""Writing and reading by key, through the operations."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from loom_server.errors import Conflict, InvalidInput
from loom_server.service.services import Services
from spaces import Space


@pytest.fixture
def space(services: Services, org: str) -> Space:
    return Space(services, org)


def test_a_value_of_any_kind_comes_back_as_it_was(space: Space) -> None:
    values = ["text", 3, 2.5, True, None, ["a", {"b": [1, None]}], {"z": 1, "a": "ü\n\t'\"\\"}, ""]
    for place, value in enumerate(values):
        space.set(f"key {place}/'\"", value)
        assert space.get(f"key {place}/'\"").value == value


def test_a_second_value_supersedes_the_first(space: Space) -> None:
    first = space.set("k", "one")
    second = space.set("k", "two")
    assert (first.version, second.version, second.status) == (1, 2, "live")
    versions = space.history("k").versions
    assert [(v.version, v.status, v.value) for v in versions] == [(2, "live", "two"), (1, "superseded", "one")]
    assert versions[1].superseded_by == versions[0].memory_id
    assert versions[1].superseded_at is not None


def test_the_same_value_again_is_nothing_new(space: Space) -> None:
    first = space.set("k", {"b": 1, "a": 2})
    again = space.set("k", {"a": 2, "b": 1})
    assert (again.noop, again.version, again.memory_id) == (True, 1, first.memory_id)
    assert len(space.history("k").versions) == 1


def test_if_match_refuses_the_one_who_read_an_older_value(space: Space) -> None:
    first = space.set("k", "one")
    space.set("k", "two", if_match_sha256=first.content_sha256)
    with pytest.raises(Conflict):
        space.set("k", "three", if_match_sha256=first.content_sha256)
    assert space.get("k").value == "two"


def test_a_dry_run_writes_nothing(space: Space) -> None:
    told = space.set("k", "one", dry_run=True)
    assert (told.dry_run, told.version, told.memory_id) == (True, 1, "")
    assert not space.get("k").found


def test_each_item_of_set_many_has_its_own_answer(space: Space) -> None:
    space.set("b", "stored")
    items = [{"memory_key": "a", "value": 1}, {"memory_key": "b", "value": "stored"},
             {"memory_key": "c", "value": 1, "if_match_sha256": "0" * 64}]  # fmt: skip
    answer = space.set_many(items)
    assert (answer.written, answer.unchanged, answer.refused) == (1, 1, 1)
    assert answer.results[2].status == "refused"


def test_get_as_of_reads_what_counted_then(space: Space) -> None:
    space.set("k", "one")
    between = datetime.now(UTC)
    import time

    time.sleep(0.01)
    space.set("k", "two")
    assert space.get("k", as_of=between.isoformat()).value == "one"
    assert not space.get("k", as_of="2001-01-01T00:00:00Z").found
    assert space.get("k", if_version=2).unchanged


def test_an_update_keeps_what_it_does_not_name(space: Space) -> None:
    space.set(
        "k", "one", tags=["t"], category="c", confidence=0.5, metadata={"m": [1]}, agent="a", valid_at="2026-01-01"
    )
    answer = space.update("k", confidence=0.9)
    assert (answer.updated, answer.version) == (True, 2)
    got = space.get("k")
    assert (got.value, got.tags, got.category, got.confidence, got.metadata, got.agent) == (
        "one", ("t",), "c", 0.9, {"m": [1]}, "a")  # fmt: skip
    assert got.valid_at == datetime(2026, 1, 1, tzinfo=UTC)


def test_two_updates_of_different_fields_both_stay(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    space.set("k", "v")
    write, between = type(space.services.writer).write, iter([True])

    def overtaken(*args: object) -> object:
        if next(between, False):
            space.update("k", tags=["from b"])
        return write(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(type(space.services.writer), "write", overtaken)
    assert space.update("k", category="from a").updated
    got = space.get("k")
    assert (got.version, got.tags, got.category) == (3, ("from b",), "from a")


def test_many_updates_of_one_key_at_once_all_stay(space: Space) -> None:
    first = space.set("k", "v")
    fields = [{"tags": ["t"]}, {"category": "c"}, {"summary": "s"}, {"canonical": "c"}, {"entities": ["e"]},
              {"confidence": 0.5}, {"source_trace": "t"}, {"sensitivity": "high"}]  # fmt: skip
    with ThreadPoolExecutor(len(fields)) as pool:
        guarded = {"if_match_sha256": first.content_sha256}
        answers = list(pool.map(lambda change: space.update("k", **change, **guarded), fields))
    assert sorted(answer.version or 0 for answer in answers) == list(range(2, len(fields) + 2))
    got = space.get("k").model_dump(mode="json")
    assert {name: got[name] for change in fields for name in change} == {k: v for c in fields for k, v in c.items()}


def test_an_update_moves_no_end_and_an_equal_one_is_nothing(space: Space) -> None:
    space.set("k", "v", ttl_seconds=1000, tags=["t"])
    ends = space.get("k").expires_at
    assert space.update("k", tags=["t"]).reason == "unchanged"
    assert space.update("k", tags=["u"]).updated
    assert space.get("k").expires_at == ends
    assert space.update("k", ttl_seconds=10).updated
    sooner = space.get("k").expires_at
    assert sooner is not None and ends is not None and sooner < ends
    assert space.update("k", ttl_seconds=None).updated
    assert space.get("k").expires_at is None


def test_an_update_of_what_is_not_there_says_so(space: Space) -> None:
    answer = space.update("nothing", value=1)
    assert (answer.updated, answer.reason) == (False, "not_found")


def test_a_key_of_two_writers_is_ambiguous_and_both_are_named(space: Space) -> None:
    space.set("k", 1, agent="one")
    space.set("k", 2, agent="two")
    for change in (lambda: space.update("k", value=3), lambda: space.delete("k")):
        with pytest.raises(Conflict) as raised:
            change()
        assert [error.message for error in raised.value.errors] == [
            "held by agent=one user_id=- session_id=-", "held by agent=two user_id=- session_id=-"]  # fmt: skip
    assert space.update("k", agent="two", value=3).updated
    assert (space.get("k", agent="one").value, space.get("k", agent="two").value) == (1, 3)


def test_a_deleted_key_is_gone_its_history_stays_and_it_may_live_again(space: Space) -> None:
    space.set("k", "one")
    gone = space.delete("k")
    assert (gone.found, gone.tombstoned, gone.version) == (True, True, 2)
    assert not space.get("k").found
    again = space.delete("k")
    assert (again.found, again.tombstoned) == (False, False)
    assert space.set("k", "two").version == 3
    assert [v.status for v in space.history("k").versions] == ["live", "tombstoned", "superseded"]


def test_pages_of_a_list_hold_every_key_once_in_order(space: Space) -> None:
    space.fill({f"p/{n:02}": n for n in range(25)})
    space.set("q", 1)
    keys: list[str] = []
    cursor: str | None = None
    while True:
        page = space.list(prefix="p/", limit=7, **({"cursor": cursor} if cursor else {}))
        keys += [memory.memory_key for memory in page.memories]
        cursor = page.next_cursor
        space.set(f"p/{len(keys):02}-late", "written between pages, behind or before")
        if cursor is None:
            break
    assert [key for key in keys if not key.endswith("late")] == [f"p/{n:02}" for n in range(25)]
    assert keys == sorted(keys)
    assert space.list(prefix="q", count_only=True).count == 1


def test_a_cursor_continues_its_own_list_only(space: Space) -> None:
    space.fill({f"p/{n}": n for n in range(5)})
    cursor = space.list(prefix="p/", limit=2).next_cursor
    for other in ({"prefix": "q"}, {"prefix": "p/", "include_superseded": True}):
        with pytest.raises(InvalidInput, match="cursor"):
            space.list(cursor=cursor, limit=2, **other)
    for junk in ("x", "AAAA", "W10", "é"):
        with pytest.raises(InvalidInput, match="cursor"):
            space.list(prefix="p/", cursor=junk)


def test_a_value_too_large_is_refused_alone(space: Space) -> None:
    answer = space.set_many([{"memory_key": "big", "value": "x" * 2_100_000}, {"memory_key": "small", "value": "x"}])
    assert (answer.written, answer.refused) == (1, 1)
    assert answer.results[0].error.code == "too_large"  # type: ignore[union-attr]


def test_a_namespaces_language_is_settled_before_its_first_memory(space: Space) -> None:
    german = space.other(namespace="de")
    assert german.prefer(language="de").language == "de"
    german.set("k", "Die Häuser stehen am Fluss")
    assert german.keys("Haus", search_mode="lexical") == ["k"]
    assert german.prefer(language="de").language == "de"
    with pytest.raises(Conflict, match="language"):
        german.prefer(language="fr")


def test_preferences_are_kept_and_cleared_one_by_one(space: Space) -> None:
    space.prefer(retrieval_defaults={"search_mode": "rrf", "top_k": 3})
    space.prefer(retrieval_defaults={"top_k": None})
    kept = space.prefer(retrieval_defaults={"floor_mode": "drop"}).retrieval_defaults
    assert (kept.search_mode, kept.top_k, kept.floor_mode) == ("rrf", None, "drop")


def test_a_top_k_over_the_ceiling_is_no_default(space: Space) -> None:
    with pytest.raises(InvalidInput, match=r"retrieval_defaults\.top_k"):
        space.prefer(retrieval_defaults={"top_k": 500})
