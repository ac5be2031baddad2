"""`rpc.discover`: the operations as an OpenRPC document.

    registry -> methods, parameters, results        error tree -> errors        wire models -> schemas

It is made from the same tables as the doors, once in a process, and asks no service: it is answered while the
services start. A method is an operation and no other, so the document does not list `rpc.discover` itself.

Schemas are JSON Schema of draft 7, which OpenRPC reads. An error of OpenRPC has its number as identity, while the
service's own `code` is finer: so one entry stands for a number, and names the codes that come under it. The errors that
JSON-RPC itself defines for a call that cannot be read are left out, as OpenRPC takes them as given.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import orjson
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from loom_client import wire
from loom_server import __version__
from loom_server.api.operations import OPERATIONS, Operation
from loom_server.errors import InvalidInput, LoomError
from loom_server.observe.labels import tree

DISCOVER = "rpc.discover"
OPENRPC = "1.3.2"
"""The version of OpenRPC that the document is of."""

_ABOUT = (
    "A retrieval service for the memory of agents and teams. Parameters are given by name, in one object. The `data` of"
    " an error is a `Problem` of `components.schemas`; an entry under `errors` names the codes that it may carry."
)
_SCHEMAS = "#/components/schemas/"
_NEVER_FROM_A_METHOD = frozenset({-32700, -32600, -32601, -32002})
"""No call was read, or another service is meant: told by JSON-RPC itself, or by the status of HTTP."""

_OF_WRITES = frozenset({-32003, -32004})
_MEANINGS: Mapping[int, str] = {
    -32001: "Unauthenticated",
    -32003: "Not found",
    -32004: "Conflict",
    -32005: "Rate limited",
    -32006: "Out of time",
    -32007: "Store or embedder unavailable",
    -32008: "Not ready",
    -32602: "Invalid parameters",
    -32603: "Internal error",
}


class _Draft7(GenerateJsonSchema):
    """Pydantic writes a later draft, which differs in how it tells the parts of a tuple."""

    def tuple_schema(self, schema: core_schema.TupleSchema) -> JsonSchemaValue:
        shown = super().tuple_schema(schema)
        if "prefixItems" in shown:
            shown["items"] = shown.pop("prefixItems")
        return shown


def discovered(params: object) -> bytes:
    """The document as JSON. Raises `InvalidInput` where parameters are given."""
    if params not in ({}, []):
        raise InvalidInput(f"{DISCOVER} takes no parameters; leave params out.")
    return _bytes()


@cache
def _bytes() -> bytes:
    return orjson.dumps(document())


def document() -> dict[str, Any]:
    """The OpenRPC document of this service."""
    schemas = _schemas()
    groups = _groups()
    return {
        "openrpc": OPENRPC,
        "info": {"title": "Loom Recall", "version": __version__, "description": _ABOUT},
        "methods": [_method(operation, schemas, groups) for operation in OPERATIONS.values()],
        "components": {
            "schemas": schemas,
            "errors": {name: _error(code, kinds) for code, (name, kinds) in groups.items()},
        },
    }


def _method(operation: Operation, schemas: Mapping[str, Any], groups: Mapping[int, tuple[str, Any]]) -> dict[str, Any]:
    contract = operation.contract
    answer = contract.response.__name__
    writes = contract.access == "write"
    return {
        "name": contract.name,
        "summary": contract.summary,
        "description": contract.request.__doc__ or "",
        "tags": [{"name": contract.name.partition(".")[0]}, {"name": contract.access}],
        "paramStructure": "by-name",
        "params": _params(contract.request, schemas[contract.request.__name__]),
        "result": {
            "name": answer,
            "summary": contract.response.__doc__ or "",
            "schema": {"$ref": f"{_SCHEMAS}{answer}"},
        },
        "errors": [
            {"$ref": f"#/components/errors/{name}"}
            for code, (name, _) in groups.items()
            if writes or code not in _OF_WRITES
        ],
    }


def _params(model: type[wire.Request], schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One descriptor a field. OpenRPC wants those that must be given first."""
    fields = sorted(model.model_fields.items(), key=lambda field: not field[1].is_required())
    return [
        {
            "name": name,
            "description": str(info.description),
            "required": info.is_required(),
            "schema": {key: told for key, told in schema["properties"][name].items() if key != "description"},
        }
        for name, info in fields
    ]


def _schemas() -> dict[str, Any]:
    """Every model of the wire by its name, with references that lead into the document."""
    contracts = [operation.contract for operation in OPERATIONS.values()]
    answers = {wire.Problem, *(contract.response for contract in contracts)}
    models: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        *((contract.request, "validation") for contract in contracts),
        *((answer, "serialization") for answer in answers),
    ]
    _, found = models_json_schema(models, ref_template=f"{_SCHEMAS}{{model}}", schema_generator=_Draft7)
    return dict(sorted(found["$defs"].items()))


def _groups() -> dict[int, tuple[str, list[type[LoomError]]]]:
    """Errors that a method may answer, by number: the entry's name, and the kinds that share the number."""
    groups: dict[int, tuple[str, list[type[LoomError]]]] = {}
    for kind in tree(LoomError):
        if "code" in vars(kind) and kind.rpc_code not in _NEVER_FROM_A_METHOD:
            _, kinds = groups.setdefault(kind.rpc_code, (kind.code, []))
            kinds.append(kind)
    return groups


def _error(code: int, kinds: list[type[LoomError]]) -> dict[str, Any]:
    codes = [{"code": kind.code, "category": kind.category, "retryable": kind.retryable} for kind in kinds]
    return {"code": code, "message": _MEANINGS[code], "data": {"codes": codes}}
