"""From a validation error to a refusal: one path and one sentence for each wrong field.

A request whose only faults are features that are not built is `not_supported`; any other fault
makes it `invalid_input`, with all faults listed. Values are not repeated in messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from loom_client import wire
from loom_client.wire.contracts import paths
from loom_client.wire.marks import NOT_SUPPORTED
from loom_server.errors import FieldError, InvalidInput, NotSupported

MOST_ERRORS = 20
_PATH_CHARS = 200
_TOLD = 3

_SENTENCES: Mapping[str, str] = {
    "missing": "is required",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "literal_error": "must be one of {expected}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "too_short": "must hold at least {min_length}",
    "too_long": "must hold at most {max_length}",
    "recursion_depth_exceeded": "is nested too deeply",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
}


def refusal(contract: wire.Contract, error: ValidationError) -> InvalidInput:
    """The error that the caller is told."""
    found = error.errors(include_url=False, include_input=False)
    kind = NotSupported if all(one["type"] == NOT_SUPPORTED for one in found) else InvalidInput
    errors = tuple(_field(contract, one) for one in found[:MOST_ERRORS])
    return kind(_message(contract.name, errors, len(found)), errors=errors)


def _field(contract: wire.Contract, one: Mapping[str, Any]) -> FieldError:
    context = one.get("ctx", {})
    path = _path((*one["loc"], *([context["path"]] if "path" in context else [])))
    if one["type"] == "extra_forbidden":
        return FieldError(path, f"is not a field of {contract.name}{_hint(contract, path)}")
    sentence = _SENTENCES.get(one["type"])
    return FieldError(path, one["msg"] if sentence is None else sentence.format(**context))


def _path(location: Sequence[int | str]) -> str:
    return ".".join(str(part) for part in location if part != "[key]")[:_PATH_CHARS]


def _hint(contract: wire.Contract, path: str) -> str:
    known = sorted(paths(contract.request))
    leaves = {one.rpartition(".")[2]: one for one in reversed(known)}
    wanted = path.rpartition(".")[2]
    near = get_close_matches(wanted, sorted(leaves), n=1, cutoff=0.75)
    # The same name elsewhere in the request is told with its path.
    return f" (did you mean {leaves[wanted] if near[0] == wanted else near[0]}?)" if near else ""


def _message(name: str, errors: Sequence[FieldError], total: int) -> str:
    told = "; ".join(f"{one.path or 'the request'} {one.message}" for one in errors[:_TOLD])
    rest = f"; and {total - _TOLD} more" if total > _TOLD else ""
    return f"{name}: {told}{rest}."
