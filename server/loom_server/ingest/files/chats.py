"""JSON chats: `[{role, content, speaker?, timestamp?}]`, or `{messages: [...], session_id?}`.

    key     chats/monday.json#00003                  file, turn
    value   Ines: The pool is full again.            speaker, else role, and the text

A turn is a row of type `episode` with the chat's session id, which defaults to the file's
name. A turn that cannot be read is named by its place; the others keep their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import cast

import orjson

from loom_server.errors import InvalidJson
from loom_server.ingest.files.decode import read_text
from loom_server.ingest.files.moments import moment
from loom_server.ingest.files.names import session_name
from loom_server.ingest.files.row import Bounds, Fault, Row, SourceFile
from loom_server.model.strict_json import load

TURN_FIELDS = frozenset({"role", "content", "speaker", "timestamp"})
CHAT_FIELDS = frozenset({"messages", "session_id"})
SHAPE = "a chat is a list of {role, content, speaker?, timestamp?}, or {messages: [...], session_id?}"


def read_chat(file: SourceFile, bounds: Bounds) -> Iterator[Row | Fault]:
    """The turns of one chat."""
    text = read_text(file, bounds)
    if isinstance(text, Fault):
        yield text
        return
    try:
        parsed = load(text)
    except orjson.JSONDecodeError as error:
        yield Fault(file.name, str(error.lineno), f"not JSON: {error.msg} at column {error.colno}")
        return
    except InvalidJson as error:
        yield Fault(file.name, "", error.message)
        return
    chat = _chat(parsed, file)
    if isinstance(chat, Fault):
        yield chat
        return
    session_id, turns = chat
    for number, turn in enumerate(turns):
        yield _row(turn, number, session_id, file)


def _chat(parsed: object, file: SourceFile) -> tuple[str, Sequence[object]] | Fault:
    """The session's id and its turns."""
    default = session_name(str(PurePosixPath(file.name).with_suffix("")))
    if isinstance(parsed, list):
        return default, cast("list[object]", parsed)
    if not isinstance(parsed, dict):
        return Fault(file.name, "", SHAPE)
    chat = cast("dict[str, object]", parsed)
    turns, session_id = chat.get("messages"), chat.get("session_id", default)
    if not isinstance(turns, list):
        return Fault(file.name, "messages", SHAPE)
    if not isinstance(session_id, str) or not session_id:
        return Fault(file.name, "session_id", "must be a text")
    if unknown := sorted(chat.keys() - CHAT_FIELDS):
        return Fault(file.name, unknown[0], f"unknown field; {SHAPE}")
    return session_id, cast("list[object]", turns)


def _row(turn: object, number: int, session_id: str, file: SourceFile) -> Row | Fault:
    place = f"messages[{number}]"
    if not isinstance(turn, dict):
        return Fault(file.name, place, SHAPE)
    message = cast("dict[str, object]", turn)
    wrong = _wrong_field(message)
    if wrong:
        field, reason = wrong
        return Fault(file.name, f"{place}.{field}", reason)
    fields: dict[str, object] = {
        "memory_key": f"{file.key_prefix}{number:05d}",
        "value": f"{_speaker(message)}: {_text(message['content']).strip()}",
        "session_id": session_id,
        "memory_type": "episode",
        "source_class": "imported",
        "source_resource_id": file.resource,
    }
    if valid_at := moment(message.get("timestamp")):
        fields["valid_at"] = valid_at
    return Row(file.name, place, fields, file.size)


def _wrong_field(message: Mapping[str, object]) -> tuple[str, str] | None:
    """The first field that cannot be used, with its mend."""
    if unknown := sorted(message.keys() - TURN_FIELDS):
        return unknown[0], "unknown field"
    if not isinstance(message.get("role"), str) or not message["role"]:
        return "role", "must be a text, such as user or assistant"
    if not isinstance(message.get("speaker", ""), str):
        return "speaker", "must be a text"
    if not _text(message.get("content")).strip():
        return "content", "must be a text that is not empty, or parts of type text"
    if message.get("timestamp") is not None and moment(message["timestamp"]) is None:
        return "timestamp", "must be ISO 8601 or seconds since 1970"
    return None


def _speaker(message: Mapping[str, object]) -> str:
    return str(message.get("speaker") or str(message["role"]).capitalize())


def _text(content: object) -> str:
    """A turn's text: the content itself, or the texts of its parts; `""` where a part is no text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [_part(part) for part in cast("list[object]", content)]
    return "\n".join(texts) if all(texts) else ""


def _part(part: object) -> str:
    fields = cast("dict[str, object]", part) if isinstance(part, dict) else {}
    text = fields.get("text")
    return text if fields.get("type") == "text" and isinstance(text, str) else ""
