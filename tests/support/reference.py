"""Tables of the reference pages, made from the code: `python tests/support/reference.py` writes them anew,
and the client's generated modules too (`client_methods`).

    <!-- table: settings -->             every LOOM_ setting
    <!-- table: metrics -->              every metric
    <!-- table: labels -->               every label with its values
    <!-- table: operations -->           every operation
    <!-- table: request memory.set -->   the fields that a request may hold
    <!-- table: refused memory.set -->   its fields that are not built, each with what to use instead
    <!-- table: answer memory.set -->    the fields of the answer
    <!-- table: shape Hit -->            an object inside one of these
    <!-- end -->                         closes each of them

Everything outside such a pair of comments is written by hand. A test compares each page with what this would write.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_origin

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

import client_methods
from loom_client import wire
from loom_client.wire import fields
from loom_client.wire.contracts import not_built
from loom_client.wire.marks import unbuilt
from loom_server.observe.meters import METERS
from loom_server.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
Schema = Mapping[str, Any]
Row = Sequence[str]

TABLE = re.compile(r"(<!-- table: (\w+)(?: ([\w.]+))? -->\n).*?(<!-- end -->)", re.DOTALL)
_TEXTS: Mapping[str, object] = {
    "name": fields.Name,
    "key": fields.Key,
    "label": fields.Label,
    "label or empty": fields.OptionalLabel,
    "SHA-256": fields.Sha256,
}
_PLAIN = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}


def pages() -> list[Path]:
    """Every page of the docs, in a stable order."""
    return sorted(DOCS.rglob("*.md"))


def filled(text: str) -> str:
    """The page with each of its tables made anew. Raises KeyError for a table that nothing makes."""
    return TABLE.sub(lambda found: f"{found[1]}\n{_MAKERS[found[2]](found[3])}\n\n{found[4]}", text)


def setting_rows() -> Iterator[Row]:
    """Variable, default, what it accepts, meaning."""
    for name, info in Settings.model_fields.items():
        yield f"`LOOM_{name.upper()}`", f"`{info.default}`", _accepted(info), str(info.description)


def metric_rows() -> Iterator[Row]:
    """Metric, kind, labels, meaning."""
    for meter in METERS:
        labels = ", ".join(f"`{label}`" for label in meter.labels) or "none"
        yield f"`{meter.name}`", meter.kind, labels, meter.about


def label_rows() -> Iterator[Row]:
    """Label with its metrics and its values. Metrics that give a label the same values share a row."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for meter in METERS:
        for label, values in meter.labels.items():
            found.setdefault((label, values), []).append(meter.name)
    for (label, values), names in found.items():
        yield f"`{label}`", ", ".join(f"`{name}`" for name in names), _words(values)


def operation_rows() -> Iterator[Row]:
    """Operation with a link to its section, whether it writes, what it does."""
    for name, contract in wire.CONTRACTS.items():
        page = "search" if name == "memory.search" else name.partition(".")[0]
        yield f"[`{name}`]({page}.md#{name.replace('.', '')})", contract.access, contract.summary


def request_rows(model: type[BaseModel]) -> Iterator[Row]:
    """Field, kind, default, meaning of each field that is built."""
    schema, refused = model.model_json_schema(), unbuilt(model)
    for name, info in model.model_fields.items():
        if name not in refused:
            yield f"`{name}`", _kind(schema["properties"][name], False), _default(info), str(info.description)


def answer_rows(model: type[BaseModel]) -> Iterator[Row]:
    """Field, kind, meaning."""
    schema = model.model_json_schema(mode="serialization")
    for name, info in model.model_fields.items():
        yield f"`{name}`", _kind(schema["properties"][name], True), str(info.description)


def shapes() -> dict[str, type[BaseModel]]:
    """Every object that stands inside a request or an answer, by its name."""
    models = [model for contract in wire.CONTRACTS.values() for model in (contract.request, contract.response)]
    return {inner.__name__: inner for model in (*models, wire.StartProblem) for inner in _inner(model)}


def table(heads: Row, rows: Iterable[Row]) -> str:
    """A Markdown table, or a word where it would be empty."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *lines]) if lines else "None."


def _settings(_: str) -> str:
    return table(("variable", "default", "accepts", "meaning"), setting_rows())


def _metrics(_: str) -> str:
    return table(("metric", "type", "labels", "meaning"), metric_rows())


def _labels(_: str) -> str:
    return table(("label", "of", "values"), label_rows())


def _operations(_: str) -> str:
    return table(("operation", "access", "does"), operation_rows())


def _request(operation: str) -> str:
    return table(("field", "kind", "default", "meaning"), request_rows(wire.CONTRACTS[operation].request))


def _answer(operation: str) -> str:
    return table(("field", "kind", "meaning"), answer_rows(wire.CONTRACTS[operation].response))


def _refused(operation: str) -> str:
    rows = ((f"`{path}`", instead) for path, instead in not_built(wire.CONTRACTS[operation].request))
    return table(("not built", "instead"), rows)


def _shape(name: str) -> str:
    model = shapes()[name]
    if issubclass(model, wire.Request):
        return table(("field", "kind", "default", "meaning"), request_rows(model))
    return table(("field", "kind", "meaning"), answer_rows(model))


_MAKERS: Mapping[str, Callable[[str], str]] = {
    "settings": _settings,
    "metrics": _metrics,
    "labels": _labels,
    "operations": _operations,
    "request": _request,
    "refused": _refused,
    "answer": _answer,
    "shape": _shape,
}


def _inner(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for info in model.model_fields.values():
        for kind in _models(info.annotation):
            yield kind
            yield from _inner(kind)


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _accepted(info: FieldInfo) -> str:
    """The values of a setting."""
    if get_origin(info.annotation) is Literal:
        return _words(get_args(info.annotation))
    bounds = {name: getattr(mark, name) for mark in info.metadata for name in ("ge", "gt", "le") if hasattr(mark, name)}
    kind = {int: "whole number", float: "number", Path: "path", bool: "true or false"}.get(
        info.annotation or str, "text"
    )
    return f"{kind}{_range(bounds.get('ge'), bounds.get('gt'), bounds.get('le'))}"


def _default(info: FieldInfo) -> str:
    value = info.default
    if info.is_required():
        return "required"
    if value is None:
        return "null"
    if value in ("", [], {}):
        return "empty"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _kind(schema: Schema, nullable: bool) -> str:
    """What a field holds, in words; `nullable` says whether a null is worth telling."""
    match schema:
        case {"$ref": path}:
            return _link(path.rsplit("/", 1)[-1])
        case {"x-built-values": words} | {"enum": words}:
            return _words(words)
        case {"const": word}:
            return _words([word])
        case {"anyOf": branches}:
            return _either(branches, nullable)
        case _:
            return _typed(schema, nullable)


def _typed(schema: Schema, nullable: bool) -> str:
    match schema.get("type"):
        case None:
            return "any JSON"
        case "string":
            return _text(schema)
        case "array":
            pair = "prefixItems" in schema
            return "pair" if pair else f"list of {_kind(schema['items'], nullable)}{_size(schema, 'Items')}"
        case "object":
            inner = schema.get("additionalProperties")
            of = f" of {_kind(inner, nullable)}" if isinstance(inner, dict) else ""
            return f"object{of}{_size(schema, 'Properties')}"
        case kind:
            return f"{_PLAIN[kind]}{_range(schema.get('minimum'), None, schema.get('maximum'))}"


def _either(branches: Sequence[Schema], nullable: bool) -> str:
    told = [one for one in branches if one.get("type") != "null"]
    kinds = [_kind(one, nullable) for one in told]
    if len(told) == 2 and told[1].get("items") == told[0]:
        kinds = [f"one or a list of {kinds[0]}"]
    return " or ".join([*kinds, "null"] if nullable and len(told) < len(branches) else kinds)


def _text(schema: Schema) -> str:
    if schema.get("format") == "date-time":
        return "time"
    parts = ("pattern", "minLength", "maxLength")
    for name, kind in _TEXTS.items():
        known = TypeAdapter[Any](cast(Any, kind)).json_schema()
        if [schema.get(part) for part in parts] == [known[part] for part in parts]:
            return name
    return f"text{_size(schema, 'Length')}"


def _range(least: float | None, above: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f" from {_number(least)} to {_number(most)}"
    low = f" of at least {_number(least)}" if least is not None else ""
    high = f", at most {_number(most)}" if most is not None else ""
    return f"{low}{'' if above is None else f' above {_number(above)}'}{high}"


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,g}"


def _size(schema: Schema, of: str) -> str:
    least, most = schema.get(f"min{of}") or 0, schema.get(f"max{of}")
    unit = " characters" if of == "Length" else ""
    if most is None:
        return f", {least} or more{unit}" if least else ""
    return f", {least:,} to {most:,}{unit}"


def _link(name: str) -> str:
    return "any JSON" if name == "JsonValue" else f"[{name}](#{name.lower()})"


def _words(values: Sequence[object]) -> str:
    return ", ".join(f"`{value}`" for value in values)


if __name__ == "__main__":
    for page in pages():
        before = page.read_text(encoding="utf-8")
        if (after := filled(before)) != before:
            page.write_text(after, encoding="utf-8")
            print(page.relative_to(ROOT))
    for module in client_methods.write():
        print(module.relative_to(ROOT))
