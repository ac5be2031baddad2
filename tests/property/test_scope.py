"""Whatever a caller asks for, the statement stays in its org and namespace and binds every value."""

from __future__ import annotations

import re
from datetime import UTC

from hypothesis import given
from hypothesis import strategies as st

from loom_server.model.scope import Filters, Scope
from loom_server.store.statement import Template, compile_filters, compile_scope

# A value of this shape cannot be in the SQL by chance, so finding it there means it was not bound.
VALUE = st.text(min_size=0, max_size=20).map(lambda text: f"\u00a7{text}'")
VALUES = st.lists(VALUE, max_size=3).map(tuple)
MOMENT = st.datetimes(timezones=st.just(UTC))
SCOPES = st.builds(
    Scope,
    org=VALUE,
    namespace=VALUE,
    agent=st.none() | VALUE,
    user_id=st.none() | VALUE,
    session_ids=st.none() | VALUES,
    run_id=st.none() | VALUE,
)
FILTERS = st.builds(
    Filters,
    memory_type=st.none() | VALUE,
    category=st.none() | VALUE,
    tags_any=VALUES,
    tags_all=VALUES,
    tags_none=VALUES,
    source_class=VALUES,
    created_after=st.none() | MOMENT,
    created_before=st.none() | MOMENT,
    valid_from=st.none() | MOMENT,
    valid_to=st.none() | MOMENT,
    metadata=st.lists(st.tuples(VALUE, VALUE), max_size=3).map(tuple),
)
PLACEHOLDER = re.compile(r"\{(\w+):[^}]+\}")
TEMPLATE = Template("t", "SELECT id FROM loom.memory WHERE /*scope*/ AND /*filters*/")


@given(SCOPES, st.booleans())
def test_a_compiled_scope_holds_org_and_namespace_and_binds_the_rest(scope: Scope, identity: bool) -> None:
    predicate = compile_scope(scope, identity=identity)
    assert predicate.sql.startswith("(org = {scope_org:String} AND namespace = {scope_namespace:String}")
    assert (predicate.parameters["scope_org"], predicate.parameters["scope_namespace"]) == (scope.org, scope.namespace)
    assert set(PLACEHOLDER.findall(predicate.sql)) == set(predicate.parameters)


@given(FILTERS)
def test_compiled_filters_bind_every_value(filters: Filters) -> None:
    predicate = compile_filters(filters)
    assert set(PLACEHOLDER.findall(predicate.sql)) == set(predicate.parameters)
    assert (predicate.sql == "1") == filters.empty
    assert "\u00a7" not in predicate.sql


@given(SCOPES, FILTERS)
def test_a_bound_statement_is_scoped_wherever_it_reads(scope: Scope, filters: Filters) -> None:
    statement = TEMPLATE.bind(scope, filters=filters)
    readings = statement.sql.count("loom.memory")
    assert readings == (1 if filters.empty else 2)
    assert statement.sql.count(compile_scope(scope).sql) == readings
    assert set(PLACEHOLDER.findall(statement.sql)) == set(statement.parameters)
    assert "\u00a7" not in statement.sql
    assert "/*" not in statement.sql
