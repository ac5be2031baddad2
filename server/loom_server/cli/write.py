"""`loom set`: one memory under a key."""

from __future__ import annotations

import sys
from typing import Annotated, cast

import orjson
import typer

from loom_client import wire
from loom_server.cli.command import DONE, Shell
from loom_server.cli.door import open_door, request_of
from loom_server.cli.questions import Fields, further_fields
from loom_server.errors import InvalidInput
from loom_server.model.strict_json import load

FROM_STDIN = "-"

Key = Annotated[str, typer.Argument(help="The key, unique for its writer.")]
Value = Annotated[str, typer.Argument(help="The memory; '-' reads it from stdin.")]
Parse = Annotated[bool, typer.Option("--parse", help="The value is JSON, not text.")]
MemoryType = Annotated[
    str | None, typer.Option("--type", help="fact, preference, episode, procedure or semantic (default: fact).")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A label; may be repeated.")]


def set_memory(
    shell: Shell,
    key: Key,
    value: Value,
    parse: Parse = False,
    memory_type: MemoryType = None,
    tag: Tags = None,
    field: Fields = None,
) -> int:
    """Write one memory; a new value under a key supersedes the one before it."""
    given: dict[str, object] = {"memory_type": memory_type, "tags": tag}
    named = {name: one for name, one in given.items() if one}
    fields = {**shell.identity, **further_fields(field or ()), **named, "memory_key": key}
    request = cast(wire.MemorySetRequest, request_of("memory.set", {**fields, "value": value_of(value, parse)}))
    with open_door(shell.settings) as door:
        answer = door.set(request)
    if shell.screen.as_json:
        shell.screen.data(answer.plain())
    shell.screen.show(_told(answer))
    return DONE


def value_of(text: str, parse: bool) -> object:
    """What is to be stored: the text itself, or the JSON that it holds; `-` is the text of stdin."""
    text = _stdin() if text == FROM_STDIN else text
    if not parse:
        return text
    try:
        return load(text)
    except orjson.JSONDecodeError as error:
        raise InvalidInput.field("value", f"is not JSON ({error.msg}); leave --parse out to store it as text") from None


def _stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InvalidInput.field("value", f"stdin is not UTF-8 (byte {error.start}); give it as UTF-8") from None


def _told(answer: wire.MemorySetResponse) -> str:
    did = "would be" if answer.dry_run else "unchanged," if answer.noop else "stored,"
    return f"{answer.memory_key}: {did} version {answer.version}"
