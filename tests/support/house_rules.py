"""The house rules that no linter knows: `python tests/support/house_rules.py` prints each breach.

    module    at most 400 lines, a docstring, no name that says nothing
    function  at most 60 lines and 7 parameters (`self` and `cls` apart); median over the product at most 12 lines
    except    a handler of everything either ends by raising again, or `BROAD` gives its reason
    scope     a statement is made by a template, which cannot leave out the scope, or `UNSCOPED` gives its reason
    words     no marker of unfinished work

Lines of a function count from its `def` to its end, docstring included. Nested functions count by themselves and as
part of the one around them.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import TypeAlias

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("server", "schema", "calibration")

MODULE_LINES = 400
FUNCTION_LINES = 60
MEDIAN_LINES = 12
PARAMETERS = 7
EMPTY_NAMES = frozenset({"utils", "util", "helpers", "helper", "manager", "common", "misc"})
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|NotImplementedError)\b")

BROAD = {
    "server/loom_server/embed/lanes.py": "what a request raises is told to the caller that waits for it",
    "server/loom_server/engine/gather.py": "a leg's failure becomes a reason code; the search goes on",
    "server/loom_server/ingest/writer.py": "a failed group is told to each of its callers; the writer lives on",
    "server/loom_server/api/call.py": "the process edge: an unknown error of a call leaves as the one error shape",
    "server/loom_server/api/edge.py": "the process edge: an unknown error of a door leaves as the one error shape",
    "server/loom_server/api/startup.py": "the start runs behind the listener; what ended it is told to every caller",
    "server/loom_server/service/reembedding.py": "a job's failure is told to whoever asks for its status",
    "server/loom_server/cli/command.py": "the process edge: an unknown error leaves as an exit code",
}

UNSCOPED = {
    "server/loom_server/store/statement.py": "makes statements, each under its scope",
    "server/loom_server/store/named.py": "makes statements over rows that carry their org and namespace",
    "server/loom_server/store/migrate.py": "creates the tables",
    "server/loom_server/store/idempotency.py": "which names of calls there are, as bits, in every org",
    "server/loom_server/store/driven.py": "asks the engine for its columns",
    "server/loom_server/service/health.py": "asks whether the engine answers, and for the schema's version",
    "server/loom_server/store/process.py": "the highest row id, above which new ones begin; who else writes here",
    "server/loom_server/keep/neighbours.py": "what another process left is looked for in every tenant",
    "server/loom_server/keep/evidence.py": "what a crash left is looked for in every tenant",
    "server/loom_server/keep/lacking.py": "rows without a vector of the live model are counted in every tenant",
    "server/loom_server/keep/terms.py": "a sample of every tenant's terms is made again",
    "server/loom_server/cli/checks.py": "the doctor looks at every tenant",
}

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def modules(root: Path) -> Iterator[Path]:
    """The product's Python files under `root`, in a stable order."""
    for folder in PRODUCT:
        yield from sorted((root / folder).rglob("*.py"))


def functions(tree: ast.AST) -> Iterator[Function]:
    """Every function of a module, nested ones too."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def length(function: Function) -> int:
    """Lines from `def` to the end."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


def parameters(function: Function) -> int:
    """Parameters that a caller sees."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return sum(argument.arg not in ("self", "cls") for argument in named)


def reraises(handler: ast.ExceptHandler) -> bool:
    """Whether the handler ends by raising what it caught."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def broad_excepts(tree: ast.AST) -> Iterator[int]:
    """Lines of the handlers that catch everything and do not end with a bare `raise`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and not reraises(node):
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            names = {getattr(kind, "id", None) for kind in caught if kind is not None}
            if node.type is None or names & {"Exception", "BaseException"}:
                yield node.lineno


def bare_statements(tree: ast.AST) -> Iterator[int]:
    """Lines on which a `Statement` is made without a template."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "Statement":
            yield node.lineno


def module_breaches(path: Path, text: str, tree: ast.Module) -> Iterator[str]:
    """Breaches of a module as a whole. `path` is relative to the root."""
    lines = text.count("\n")
    if lines > MODULE_LINES:
        yield f"{path}: {lines} lines, more than {MODULE_LINES}"
    if EMPTY_NAMES & {path.stem, path.parent.name}:
        yield f"{path}: a name that says nothing of what is inside"
    if not ast.get_docstring(tree):
        yield f"{path}: no module docstring"
    for number, line in enumerate(text.splitlines(), start=1):
        if found := UNFINISHED.search(line):
            yield f"{path}:{number}: {found[0]}"


def scope_breaches(path: Path, tree: ast.Module) -> Iterator[str]:
    """Statements that no template has put under a scope."""
    if path.as_posix() not in UNSCOPED:
        yield from (f"{path}:{line}: a statement that UNSCOPED gives no reason for" for line in bare_statements(tree))


def function_breaches(path: Path, tree: ast.Module) -> Iterator[str]:
    """Breaches of the functions and handlers of one module."""
    for function in functions(tree):
        where = f"{path}:{function.lineno}: {function.name}"
        if length(function) > FUNCTION_LINES:
            yield f"{where} has {length(function)} lines, more than {FUNCTION_LINES}"
        if parameters(function) > PARAMETERS:
            yield f"{where} has {parameters(function)} parameters, more than {PARAMETERS}"
    if path.as_posix() not in BROAD:
        yield from (f"{path}:{line}: a broad except that BROAD gives no reason for" for line in broad_excepts(tree))


def breaches(root: Path) -> list[str]:
    """Every breach of the house rules under `root`, one line each."""
    found: list[str] = []
    lengths: list[int] = []
    for file in modules(root):
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
        path = file.relative_to(root)
        found += [*module_breaches(path, text, tree), *scope_breaches(path, tree), *function_breaches(path, tree)]
        lengths += [length(function) for function in functions(tree)]
    if lengths and median(lengths) > MEDIAN_LINES:
        found.append(f"the median function has {median(lengths)} lines, more than {MEDIAN_LINES}")
    return found


if __name__ == "__main__":
    found = breaches(ROOT)
    print("\n".join(found) or "house rules: kept")
    sys.exit(bool(found))
