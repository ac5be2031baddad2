"""A statement over a tenant's table cannot be made without its scope."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from loom_server.model.scope import NONE, Filters, Scope
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.statement import TENANT_TABLES, Template, compile_filters, compile_scope
from loom_server.store.store import Insert, Statement

SCOPE = Scope("acme", "notes")
READ = "SELECT id FROM loom.memory WHERE /*scope*/"


def test_a_scope_always_names_org_and_namespace() -> None:
    predicate = compile_scope(SCOPE)
    assert predicate.sql == "(org = {scope_org:String} AND namespace = {scope_namespace:String})"
    assert predicate.parameters == {"scope_org": "acme", "scope_namespace": "notes"}


def test_a_scope_narrows_to_what_it_names() -> None:
    predicate = compile_scope(Scope("acme", "notes", agent="a", user_id=NONE, session_ids=("s1", NONE), run_id="r"))
    assert predicate.sql == (
        "(org = {scope_org:String} AND namespace = {scope_namespace:String} AND agent = {scope_agent:String}"
        " AND user_id = {scope_user_id:String} AND run_id = {scope_run_id:String}"
        " AND session_id IN {scope_session_ids:Array(String)})"
    )
    assert predicate.parameters == {
        "scope_org": "acme",
        "scope_namespace": "notes",
        "scope_agent": "a",
        "scope_user_id": "",
        "scope_run_id": "r",
        "scope_session_ids": ["s1", ""],
    }


def test_tables_without_writers_are_narrowed_by_namespace_alone() -> None:
    narrow = Scope("acme", "notes", agent="a", session_ids=())
    assert compile_scope(narrow, identity=False) == compile_scope(SCOPE)


@pytest.mark.parametrize("table", TENANT_TABLES)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM loom.{table}",
        "SELECT 1 FROM loom.{table} AS a JOIN loom.{table} AS b USING id WHERE /*scope*/",
        "SELECT 1 FROM loom.{table} AS a, loom.{table} AS b WHERE /*scope*/",
        "SELECT 1 FROM LOOM.`{table}` WHERE /*scope*/ AND id IN (SELECT id FROM loom . {table})",
        "UPDATE loom.{table} SET live = 0 WHERE id = 1",
        "INSERT INTO loom.{table} SELECT * FROM loom.{table} WHERE /*scope*/",
    ],
)
def test_a_table_without_a_scope_is_refused(table: str, sql: str) -> None:
    with pytest.raises(ValueError, match=r"statement t names \d tenant tables under [01] scopes"):
        Template("t", sql.format(table=table))


def test_a_template_without_a_table_needs_a_scope_too() -> None:
    with pytest.raises(ValueError, match="0 tenant tables under 0 scopes"):
        Template("t", "SELECT 1 FROM system.tables")


def test_a_column_with_its_table_is_no_second_reading() -> None:
    Template("t", "SELECT loom.memory.id FROM loom.memory WHERE /*scope*/")


def test_a_table_with_writers_is_never_read_without_narrowing_to_the_caller() -> None:
    with pytest.raises(ValueError, match="without narrowing"):
        Template("t", "SELECT id FROM loom.postings WHERE /*scope*/", identity=False)
    Template("t", "SELECT df FROM loom.token_df WHERE /*scope*/", identity=False)


@pytest.mark.parametrize("name", ["scope_org", "f_type"])
def test_a_parameter_cannot_take_the_place_of_the_scope(name: str) -> None:
    with pytest.raises(ValueError, match="begins with"):
        Template("t", READ).bind(SCOPE, {name: "other"})


def test_binding_fills_every_marker_and_keeps_the_rest() -> None:
    template = Template("t", f"{READ} AND id IN ({READ}) AND id = {{id:UInt64}}")
    statement = template.bind(SCOPE, {"id": 7}, settings={"max_threads": 2})
    assert statement.name == "t"
    assert statement.sql.count(compile_scope(SCOPE).sql) == 2
    assert "/*scope*/" not in statement.sql
    assert statement.parameters == {"id": 7, "scope_org": "acme", "scope_namespace": "notes"}
    assert statement.settings == {"max_threads": 2}


def test_without_filters_every_row_passes() -> None:
    template = Template("t", f"{READ} AND /*filters*/")
    for none in (None, Filters()):
        assert template.bind(SCOPE, filters=none).sql.endswith("AND 1")


def test_filters_become_a_scoped_semi_join() -> None:
    statement = Template("t", f"{READ} AND /*filters*/").bind(SCOPE, filters=Filters(category="c"))
    predicate = compile_scope(SCOPE).sql
    assert statement.sql.endswith(
        f"AND id IN (SELECT id FROM loom.memory WHERE {predicate} AND category = {{f_category:String}})"
    )
    assert statement.parameters["f_category"] == "c"


def test_filters_that_a_template_cannot_take_are_refused() -> None:
    with pytest.raises(ValueError, match="statement t takes no filters"):
        Template("t", READ).bind(SCOPE, filters=Filters(category="c"))


EARLY, LATE = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC)
ROWS: dict[int, dict[str, object]] = {
    1: {"memory_type": "fact", "category": "red", "tags": ["a", "b"], "created_at": EARLY, "metadata": '{"n":1}'},
    2: {"memory_type": "preference", "category": "", "tags": ["b"], "created_at": LATE, "metadata": '{"n":"1"}'},
    3: {"memory_type": "fact", "category": "it's", "tags": [], "valid_at": EARLY, "source_class": "external"},
    4: {"memory_type": "fact", "category": "red", "tags": ["c"], "valid_at": LATE, "source_class": "imported"},
}


@pytest.fixture(scope="module")
def filtered(store: EmbeddedStore) -> str:
    """An org whose rows are `ROWS`, with one row more in another namespace."""
    org = "org-filters"
    defaults = {"category": "", "tags": [], "created_at": EARLY, "valid_at": None, "metadata": "{}"}
    for number, row in [*ROWS.items(), (5, ROWS[1])]:
        full = {**defaults, "source_class": "asserted", **row, "org": org, "id": number, "status": "live"}
        full |= {"namespace": "other" if number == 5 else "n", "content_sha256": "", "memory_key": str(number)}
        store.insert(Insert("memory", tuple(full), tuple([cell] for cell in full.values())))
    return org


@pytest.mark.parametrize(
    ("filters", "passing"),
    [
        (Filters(), {1, 2, 3, 4}),
        (Filters(memory_type="fact"), {1, 3, 4}),
        (Filters(category="it's"), {3}),
        (Filters(tags_any=("a", "c")), {1, 4}),
        (Filters(tags_all=("a", "b")), {1}),
        (Filters(tags_none=("b",)), {3, 4}),
        (Filters(source_class=("external", "imported")), {3, 4}),
        (Filters(created_after=LATE), {2}),
        (Filters(created_before=LATE), {1, 3, 4}),
        (Filters(valid_from=EARLY, valid_to=EARLY), {3}),
        (Filters(valid_from=EARLY), {3, 4}),
        (Filters(metadata=(("n", "1"),)), {1}),
        (Filters(metadata=(("n", '"1"'),)), {2}),
        (Filters(memory_type="fact", tags_any=("a", "b"), metadata=(("n", "1"),)), {1}),
        (Filters(memory_type="fact", category="nothing"), set()),
    ],
)
def test_filters_pass_the_rows_that_carry_what_they_ask(
    store: EmbeddedStore, filtered: str, filters: Filters, passing: set[int]
) -> None:
    template = Template("test.filters", "SELECT id FROM loom.memory WHERE /*scope*/ AND /*filters*/")
    columns = store.query(template.bind(Scope(filtered, "n"), filters=filters))
    assert set(columns.column("id")) == passing


def test_filter_values_never_stand_in_the_sql() -> None:
    predicate = compile_filters(Filters(category="'; DROP", metadata=(("k'", "v'"),), exclude_keys=("x'",)))
    assert not any(text in predicate.sql for text in ("DROP", "k'", "v'", "x'"))
    assert list(predicate.parameters.values()) == ["'; DROP", ["x'"], "k'", '{"value":v\'}']


def test_templates_make_plain_statements() -> None:
    assert isinstance(Template("t", READ).bind(SCOPE), Statement)
