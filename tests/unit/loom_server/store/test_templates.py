"""Every statement of the service, read by a parser that knows the engine's language.

The check of `Template` counts; this one looks: each reading of a tenant's table must stand under a
condition that holds the scope of its own select.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest
import sqlglot
from sqlglot import exp

import loom_server
from loom_server.model.scope import Filters, Scope
from loom_server.store.statement import FILTERS_MARKER, TENANT_TABLES, Template

SCOPE = Scope("acme", "notes", agent="a", user_id="u", session_ids=("s",), run_id="r")
FILTERS = Filters(category="c", tags_any=("t",))


def templates() -> Iterator[Template]:
    """Every template that a module of the service holds by name, alone or in a mapping."""
    for module in pkgutil.walk_packages(loom_server.__path__, "loom_server."):
        for value in vars(importlib.import_module(module.name)).values():
            held = value.values() if isinstance(value, dict) else [value]
            yield from (one for one in held if isinstance(one, Template))


# The parser does not know an aggregate's own parameter where it is a bound one.
PARAMETRIC = re.compile(r"\(\{\w+:\w+\}\)\(")
ALL = {template.name: template for template in templates()}


def parsed(template: Template) -> exp.Expr:
    takes_filters = FILTERS_MARKER in vars(template)["_sql"]
    sql = template.bind(SCOPE, filters=FILTERS if takes_filters else None).sql
    # Without its own errors, since it counts the arguments of some functions wrongly; `readings` is what must be right.
    tree = sqlglot.parse_one(PARAMETRIC.sub("(", sql), dialect="clickhouse", error_level=sqlglot.ErrorLevel.IGNORE)
    assert len(readings(tree)) == sql.count("loom.")
    return tree


def placeholders(condition: exp.Expr | None) -> set[str]:
    """The parameters of a condition, those of its inner selects left out."""
    if condition is None:
        return set()
    own = condition.walk(prune=lambda node: isinstance(node, exp.Select))
    return {str(node.this) for node in own if isinstance(node, exp.Placeholder)}


def readings(tree: exp.Expr) -> list[exp.Table]:
    """Every mention of a tenant's table."""
    tables = tree.find_all(exp.Table)
    return [table for table in tables if table.db.lower() == "loom" and table.name.lower() in TENANT_TABLES]


def unscoped(tree: exp.Expr) -> list[str]:
    """The tenant tables that `tree` reads without the scope in the same select (or update)."""
    found: list[str] = []
    for table in readings(tree):
        around = table.find_ancestor(exp.Select, exp.Update, exp.Delete)
        conditions = [around.args.get("where"), around.args.get("prewhere")] if around else []
        held: set[str] = set().union(*(placeholders(condition) for condition in conditions))
        if not {"scope_org", "scope_namespace"} <= held:
            found.append(table.name)
    return found


def test_the_walk_finds_the_service_s_statements() -> None:
    assert {"statistics.load", "namespaces.newest"} <= ALL.keys()


@pytest.mark.parametrize("name", sorted(ALL))
def test_every_tenant_table_is_read_under_its_own_scope(name: str) -> None:
    assert unscoped(parsed(ALL[name])) == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM loom.memory AS m WHERE id IN (SELECT id FROM loom.postings WHERE /*scope*/ AND /*scope*/)",
        "SELECT 1 FROM loom.memory UNION ALL SELECT 1 FROM loom.memory WHERE /*scope*/ AND /*scope*/",
        "SELECT 1 FROM (SELECT id FROM loom.memory) WHERE /*scope*/",
    ],
)
def test_a_scope_in_the_wrong_place_is_seen(sql: str) -> None:
    assert unscoped(parsed(Template("t", sql))) == ["memory"]


@pytest.mark.parametrize("name", sorted(ALL))
def test_names_go_to_metrics_as_they_are(name: str) -> None:
    assert all(part.isidentifier() and part == part.lower() for part in name.split("."))
