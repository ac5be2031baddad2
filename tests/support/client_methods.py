"""The client's generated modules, made from the wire: `python tests/support/client_methods.py` writes them anew.

    loom_client/arguments.py        one TypedDict a request: its optional fields that are built, as callers give them
    loom_client/methods.py          one method an operation, and `call`, typed by the request
    loom_client/async_methods.py    the same with `await`

A test compares each with what this would write.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, JsonValue

from loom_client import wire
from loom_client.wire import Request, contracts, words
from loom_client.wire.marks import unbuilt

ROOT = Path(__file__).resolve().parents[2]
CLIENT = ROOT / "server/loom_client"
NOTE = "Generated from the wire's models by tests/support/client_methods.py."


def plain(kind: Any) -> Any:
    """A type without its marks."""
    return plain(get_args(kind)[0]) if get_origin(kind) is Annotated else kind


WORDS = {plain(kind): name for name, kind in vars(words).items() if get_origin(plain(kind)) is Literal}


NAMES = {JsonValue: "JsonValue", NoneType: "None", datetime: "datetime | str"}


def told(kind: Any) -> str:
    """A field's type as a caller writes it."""
    kind = plain(kind)
    if kind in WORDS:
        return f"words.{WORDS[kind]}"
    if get_origin(kind) is not None:
        return composed(get_origin(kind), get_args(kind))
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return f"wire.{kind.__name__} | {fields_name(kind)}"
    return NAMES.get(kind) or kind.__name__


def composed(origin: Any, parts: tuple[Any, ...]) -> str:
    """A type that is made of others."""
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, parts))}]"
    if origin in (Union, UnionType):
        return " | ".join(told(part) for part in parts)
    return f"{origin.__name__}[{', '.join(told(part) for part in parts)}]"


def fields_name(model: type[BaseModel]) -> str:
    """The name of a request's TypedDict."""
    return f"{model.__name__.removesuffix('Request')}Fields"


def built(model: type[BaseModel], required: bool) -> Iterator[tuple[str, str]]:
    """Name and type of the fields that are built."""
    left_out = unbuilt(model)
    for name, info in model.model_fields.items():
        if name not in left_out and info.is_required() == required:
            yield name, told(info.annotation)


def nested() -> dict[str, type[BaseModel]]:
    """The models inside requests."""
    requests = [contract.request for contract in wire.CONTRACTS.values()]
    found = [
        inner for model in requests for info in model.model_fields.values() for inner in contracts.nested_models(info)
    ]
    return {model.__name__: model for model in found}


def bases(model: type[BaseModel]) -> list[type[BaseModel]]:
    """The models whose fields a request takes over."""
    return [base for base in model.__bases__ if issubclass(base, Request) and base is not Request]


def lineage(models: Iterable[type[BaseModel]]) -> list[type[BaseModel]]:
    """The models and all that they take fields from, each after its own bases."""
    found: dict[type[BaseModel], None] = {}
    for model in models:
        found |= dict.fromkeys([*lineage(bases(model)), model])
    return list(found)


def typed_dict(model: type[BaseModel], whole: bool) -> str:
    """A TypedDict on those of its bases; `whole` says whether it holds the required fields too."""
    taken = {field for base in bases(model) for field in built(base, False)}
    required = [f"    {name}: Required[{kind}]" for name, kind in built(model, True)] if whole else []
    optional = [f"    {name}: {kind}" for name, kind in built(model, False) if (name, kind) not in taken]
    doc = f'    """The {"" if whole else "optional "}fields of `{model.__name__}`."""'
    parents = ", ".join(map(fields_name, bases(model))) or "TypedDict"
    return "\n".join([f"class {fields_name(model)}({parents}, total=False):", doc, "", *required, *optional])


def arguments() -> str:
    """`arguments.py`."""
    head = f'''"""What the methods of the client take, one TypedDict a request.

{NOTE}
Fields whose feature is not built are left out, so that a type checker refuses them as the service does.
"""

from __future__ import annotations

from datetime import datetime
from typing import Required, TypedDict

from pydantic import JsonValue

from loom_client import wire
from loom_client.wire import words
'''
    inner = list(nested().values())
    every = lineage([*inner, *(contract.request for contract in wire.CONTRACTS.values())])
    shapes = [typed_dict(model, model in inner) for model in every]
    return "\n\n".join([head, *shapes])


def method(name: str, contract: wire.Contract, waits: bool) -> str:
    """One operation as a method."""
    required = [(field, kind.replace("list[", "Sequence[", 1)) for field, kind in built(contract.request, True)]
    given = "".join(f", {field}: {kind}" for field, kind in required)
    named = ", ".join(f'"{field}": {f"[*{field}]" if "Sequence" in kind else field}' for field, kind in required)
    answer = f"wire.{contract.response.__name__}"
    head, wait = ("async def", "await ") if waits else ("def", "")
    return f'''
    {head} {name}(self{given}, **fields: Unpack[{fields_name(contract.request)}]) -> {answer}:
        """{contract.summary}"""
        return {wait}self._ask("{contract.name}", {{{named}{", " if named else ""}**fields}}, {answer})
'''


def group(name: str, waits: bool) -> str:
    """The operations of one family."""
    prefix = "Async" if waits else ""
    members = {one.name.partition(".")[2]: one for one in wire.CONTRACTS.values() if one.name.startswith(f"{name}.")}
    head = f'''class {prefix}{name.title()}Methods:
    """The operations `{name}.*`."""

    def __init__(self, ask: {prefix}Ask) -> None:
        self._ask = ask
'''
    return head + "".join(method(short, contract, waits) for short, contract in members.items())


def calls(waits: bool) -> str:
    """`call`, typed by the request."""
    prefix, head, wait = ("Async", "async def", "await ") if waits else ("", "def", "")
    keyed = ", *, idempotency_key: str | None = None"
    parts = [
        f"""    @overload
    {head} call(
        self, request: wire.{one.request.__name__}{keyed if one.access == "write" else ""}
    ) -> wire.{one.response.__name__}: ..."""
        for one in wire.CONTRACTS.values()
    ]
    last = f'''    {head} call(self, request: wire.Request, *, idempotency_key: str | None = None) -> wire.Answer:
        """Send a request as it is. A write's `idempotency_key` is made anew for each call where none is given."""
        return {wait}self._ask(request, contract_of(request).response, idempotency_key)

    @abstractmethod
    {head} _ask(self, request: wire.Request, kind: type[A], key: str | None) -> A: ...
'''
    start = f'class {prefix}Calls(ABC):\n    """What a client can send by its request."""\n'
    return "\n".join([start, *(f"{part}\n" for part in parts), last])


def methods(waits: bool) -> str:
    """`methods.py` or `async_methods.py`."""
    prefix, head = ("Async", "async def") if waits else ("", "def")
    groups = list(dict.fromkeys(name.partition(".")[0] for name in wire.CONTRACTS))
    dicts = ", ".join(sorted([*(fields_name(one.request) for one in wire.CONTRACTS.values()), "MemoryItemFields"]))
    top = f'''"""The operations as methods{" to await" if waits else ""}. {NOTE}"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar, Unpack, overload

from pydantic import JsonValue

from loom_client import wire
from loom_client.arguments import {dicts}
from loom_client.requests import contract_of

A = TypeVar("A", bound=wire.Answer)


class {prefix}Ask(Protocol):
    """Makes one call of an operation from its fields."""

    {head} __call__(self, name: str, fields: Mapping[str, object], kind: type[A]) -> A: ...
'''
    return "\n\n".join([top, *(group(name, waits) for name in groups), calls(waits)])


def modules() -> dict[str, str]:
    """Each generated module, formatted."""
    texts = {"arguments.py": arguments(), "methods.py": methods(False), "async_methods.py": methods(True)}
    return {name: formatted(text) for name, text in texts.items()}


def formatted(text: str) -> str:
    """The text in the project's format, without imports that nothing uses."""
    ruff = [sys.executable, "-m", "ruff"]
    for arguments in (["check", "--select", "F401,I", "--fix", "--quiet"], ["format", "--quiet"]):
        command = [*ruff, *arguments, "--stdin-filename", str(CLIENT / "generated.py"), "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def write() -> Iterator[Path]:
    """Write the modules that differ; their paths."""
    for name, text in modules().items():
        path = CLIENT / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            yield path


if __name__ == "__main__":
    for path in write():
        print(path.relative_to(ROOT))
