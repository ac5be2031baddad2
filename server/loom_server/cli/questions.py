"""The options of a question, shared by `search` and `explain`, and the request they make.

What has no option of its own is given as `--field name=value`; the value is JSON where it reads
as JSON, else text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, cast

import orjson
import typer

from loom_client import wire
from loom_server.cli.door import request_of
from loom_server.errors import InvalidInput
from loom_server.model.strict_json import load

Query = Annotated[str, typer.Argument(help="The question, in your own words.")]
Mode = Annotated[
    str | None, typer.Option("--mode", "-m", help=f"How candidates are ordered: {', '.join(wire.BUILT_MODES)}.")
]
TopK = Annotated[int | None, typer.Option("--top-k", "-k", help="Rows to answer with.")]
FloorMode = Annotated[str | None, typer.Option("--floor-mode", help="Rows under the floor: readmit, ids_only or drop.")]
Page = Annotated[str | None, typer.Option("--page", help="The page of this cursor, which the page before it told.")]
Fields = Annotated[
    list[str] | None,
    typer.Option("--field", "-f", help="Any other field of the request, as name=value; may be repeated."),
]


@dataclass(frozen=True, slots=True)
class Choices:
    """The options that `search` and `explain` share."""

    mode: Mode = None
    top_k: TopK = None
    floor_mode: FloorMode = None
    page: Page = None
    field: Fields = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the command line gives it."""

    query: str
    choices: Choices = Choices()
    explain: bool = False

    def request(self, identity: Mapping[str, str]) -> wire.MemorySearchRequest:
        """The request. Raises an `InvalidInput` that names each wrong field."""
        given: dict[str, object] = {
            "query": self.query,
            "search_mode": self.choices.mode,
            "top_k": self.choices.top_k,
            "floor_mode": self.choices.floor_mode,
            "page": self.choices.page,
            "explain": self.explain or None,
        }
        named = {name: value for name, value in given.items() if value is not None}
        fields = {**identity, **further_fields(self.choices.field or ()), **named}
        return cast(wire.MemorySearchRequest, request_of("memory.search", fields))


def further_fields(given: Sequence[str]) -> dict[str, object]:
    """`name=value` texts as fields."""
    fields: dict[str, object] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise InvalidInput.field("--field", f"'{text}' is not of the form name=value")
        fields[name] = _value(value)
    return fields


def _value(text: str) -> object:
    try:
        return load(text)
    except orjson.JSONDecodeError:
        return text
