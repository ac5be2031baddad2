"""The closed sets hold what the service has: statements, tables, legs, codes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

import house_rules
import loom_schema
from loom_server.embed.choose import EMBEDDERS
from loom_server.errors import Cancelled, Conflict, DeadlineExceeded, LoomError, SearchFailed, StoreLocked, TooLarge
from loom_server.keep.sweep import SweepReport
from loom_server.legs.registry import LEG_NAMES
from loom_server.observe import labels

MAKERS = {"Statement", "Template", "NamedTemplate", "_pages"}


def statement_names() -> Iterator[str]:
    """The name of every statement in the product, as a pattern: one with a part that is computed matches any word."""
    for file in house_rules.modules(house_rules.ROOT):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) in MAKERS:
                yield from (found for found in map(pattern, node.args[:2]) if found)


def pattern(node: ast.expr) -> str:
    """A name as a pattern; "" where an argument is no name."""
    if isinstance(node, ast.Constant) and re.fullmatch(r"[a-z]+(\.[a-z_]+)*", str(node.value)):
        return re.escape(str(node.value))
    if isinstance(node, ast.JoinedStr):
        return "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"\w+" for part in node.values)
    return ""


def test_every_statement_is_listed_and_no_other() -> None:
    patterns = {one for one in statement_names() if re.match(r"[a-z]+(\\\.|$)", one)}
    assert len(patterns) > 40
    listed = [name for name in labels.STATEMENTS if not name.startswith("insert.")]
    assert [one for one in patterns if not any(re.fullmatch(one, name) for name in listed)] == []
    assert [name for name in listed if not any(re.fullmatch(one, name) for one in patterns)] == []


def test_every_table_is_listed() -> None:
    text = "".join(migration.text for migration in loom_schema.load())
    made = set(re.findall(r"CREATE TABLE IF NOT EXISTS loom\.(\w+)", text))
    assert made <= set(labels.TABLES)
    assert set(labels.TABLES) - made <= {"schema_migrations"}


def test_legs_embedders_and_what_a_sweep_does_are_listed() -> None:
    assert set(labels.LEGS) == set(LEG_NAMES)
    assert set(labels.PROVIDERS) == set(EMBEDDERS)
    assert set(labels.CHANGES) <= set(SweepReport.__dataclass_fields__)


def test_every_code_of_the_tree_is_a_reason_and_every_status_is_listed() -> None:
    for kind in (LoomError, Conflict, DeadlineExceeded, StoreLocked, TooLarge):
        assert kind.code in labels.CODES
        assert str(kind.http_status) in labels.STATUSES
    assert labels.reason_of("unexpected_ValueError") == "unexpected"
    assert labels.reason_of("embed_error") == "embed_error"


def test_no_set_has_a_value_called_other_or_two_that_are_one() -> None:
    for name, values in vars(labels).items():
        if name.isupper() and isinstance(values, tuple):
            assert values, name
            assert len(set(values)) == len(values), name
            assert labels.OTHER not in values, name


@pytest.mark.parametrize(
    ("error", "outcome", "code"),
    [
        (DeadlineExceeded("x"), "deadline", "deadline_exceeded"),
        (Cancelled("x"), "cancelled", "cancelled"),
        (TooLarge("x"), "refused", "too_large"),
        (Conflict("x"), "refused", "conflict"),
        (SearchFailed("x"), "failed", "search_failed"),
        (ValueError("x"), "failed", "internal"),
        (KeyboardInterrupt(), "failed", "internal"),
    ],
)
def test_an_error_has_an_outcome_and_a_code(error: BaseException, outcome: str, code: str) -> None:
    assert (labels.outcome_of(error), labels.code_of(error)) == (outcome, code)
