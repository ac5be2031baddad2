"""Scope by construction: the only way to make a statement over a tenant's table.

A `Template` is SQL with the marker `/*scope*/` wherever a tenant's table is read. Binding
puts the compiled predicate of a `Scope` in the place of every marker and its values among
the parameters. Refused when it is made: a template without a marker, one that names a
tenant's tables more often than it has markers, and one that leaves the writer's identity
out over a table that has it.

Filters live on `memory` alone; where there are any, `/*filters*/` becomes a semi-join on
the ids of the rows that pass them, itself scoped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from loom_server.model.scope import NONE, Filters, Scope
from loom_server.store.store import Statement

SCOPE_MARKER = "/*scope*/"
FILTERS_MARKER = "/*filters*/"
TENANT_TABLES = (
    "memory", "memory_embeddings", "postings", "token_df", "corpus_stats", "namespaces", "claims", "idempotency",
)  # fmt: skip
IDENTITY_TABLES = ("memory", "memory_embeddings", "postings")
RESERVED = ("scope_", "f_")
"""How the names of the predicates' own parameters begin."""

_TENANT_TABLE = re.compile(r"\bloom\s*\.\s*`?(" + "|".join(TENANT_TABLES) + r")\b(?!`?\.)", re.IGNORECASE)
_EVERY_ROW = "1"


@dataclass(frozen=True, slots=True)
class Predicate:
    """A piece of SQL over identity columns and the values it needs."""

    sql: str
    parameters: Mapping[str, object]


def compile_scope(scope: Scope, *, identity: bool = True) -> Predicate:
    """The one predicate of a scope. `identity=False` for tables keyed by namespace alone."""
    parts = ["org = {scope_org:String}", "namespace = {scope_namespace:String}"]
    values: dict[str, object] = {"scope_org": scope.org, "scope_namespace": scope.namespace}
    if identity:
        for column, value in (("agent", scope.agent), ("user_id", scope.user_id), ("run_id", scope.run_id)):
            if value is not None:
                parts.append(f"{column} = {{scope_{column}:String}}")
                values[f"scope_{column}"] = "" if value == NONE else value
        if scope.session_ids is not None:
            parts.append("session_id IN {scope_session_ids:Array(String)}")
            values["scope_session_ids"] = ["" if s == NONE else s for s in scope.session_ids]
    return Predicate("(" + " AND ".join(parts) + ")", values)


def compile_filters(filters: Filters) -> Predicate:
    """The predicate of the filters over `memory`'s columns."""
    conditions = (
        ("memory_type = {f_type:String}", "f_type", filters.memory_type),
        ("category = {f_category:String}", "f_category", filters.category),
        ("hasAny(tags, {f_any:Array(String)})", "f_any", list(filters.tags_any) or None),
        ("hasAll(tags, {f_all:Array(String)})", "f_all", list(filters.tags_all) or None),
        ("NOT hasAny(tags, {f_none:Array(String)})", "f_none", list(filters.tags_none) or None),
        ("source_class IN {f_class:Array(String)}", "f_class", list(filters.source_class) or None),
        ("created_at >= {f_after:DateTime64(3, 'UTC')}", "f_after", filters.created_after),
        ("created_at < {f_before:DateTime64(3, 'UTC')}", "f_before", filters.created_before),
        ("valid_at >= {f_from:DateTime64(3, 'UTC')}", "f_from", filters.valid_from),
        ("valid_at <= {f_to:DateTime64(3, 'UTC')}", "f_to", filters.valid_to),
        ("confidence >= {f_least:Float64}", "f_least", filters.min_confidence),
        ("memory_key NOT IN {f_excluded:Array(String)}", "f_excluded", list(filters.exclude_keys) or None),
        (
            "(expires_at IS NULL OR expires_at > {f_unexpired:DateTime64(3, 'UTC')})",
            "f_unexpired",
            filters.unexpired_at,
        ),
    )
    parts = [sql for sql, _, value in conditions if value is not None]
    values: dict[str, object] = {name: value for _, name, value in conditions if value is not None}
    for index, (key, value) in enumerate(filters.metadata):
        # Both sides through the engine, which writes numbers in a form of its own.
        name = f"{{f_meta_key{index}:String}}"
        asked = f"JSONExtractRaw({{f_meta_value{index}:String}}, 'value')"
        parts.append(f"JSONHas(metadata, {name}) AND JSONExtractRaw(metadata, {name}) = {asked}")
        values[f"f_meta_key{index}"], values[f"f_meta_value{index}"] = key, f'{{"value":{value}}}'
    return Predicate(" AND ".join(parts) or _EVERY_ROW, values)


def tenant_reads(sql: str) -> int:
    """How often a statement mentions a tenant's table."""
    return len(_TENANT_TABLE.findall(sql))


class Template:
    """A named statement that still lacks its scope."""

    def __init__(self, name: str, sql: str, *, identity: bool = True) -> None:
        tables = [table.lower() for table in _TENANT_TABLE.findall(sql)]
        scopes = sql.count(SCOPE_MARKER)
        if not scopes or scopes < len(tables):
            raise ValueError(f"statement {name} names {len(tables)} tenant tables under {scopes} scopes")
        if not identity and not set(IDENTITY_TABLES).isdisjoint(tables):
            raise ValueError(f"statement {name} reads rows of writers without narrowing to the caller's")
        self.name = name
        self._sql = sql
        self._identity = identity

    def bind(
        self,
        scope: Scope,
        parameters: Mapping[str, object] | None = None,
        *,
        filters: Filters | None = None,
        settings: Mapping[str, int | str] | None = None,
    ) -> Statement:
        """The statement, narrowed to `scope` and to the rows that pass `filters`."""
        predicate = compile_scope(scope, identity=self._identity)
        if parameters and any(name.startswith(RESERVED) for name in parameters):
            raise ValueError(f"statement {self.name} has a parameter of its own that begins with one of {RESERVED}")
        values: dict[str, object] = {**(parameters or {}), **predicate.parameters}
        sql = self._sql.replace(SCOPE_MARKER, predicate.sql)
        passing = _EVERY_ROW
        if filters is not None and not filters.empty:
            if FILTERS_MARKER not in sql:
                raise ValueError(f"statement {self.name} takes no filters")
            compiled = compile_filters(filters)
            passing = f"id IN (SELECT id FROM loom.memory WHERE {predicate.sql} AND {compiled.sql})"
            values.update(compiled.parameters)
        return Statement(self.name, sql.replace(FILTERS_MARKER, passing), values, dict(settings or {}))
