from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from loom_server.ingest.files.read import read
from loom_server.ingest.files.row import Fault, Row, SourceFile


def turns(path: Path, chat: object) -> list[Row | Fault]:
    data = chat if isinstance(chat, bytes) else orjson.dumps(chat)
    path.write_bytes(data)
    return list(read(SourceFile(path, f"chats/{path.name}", "chat", len(data))))


def test_turns_become_rows_with_speaker_session_and_time(tmp_path: Path) -> None:
    chat = {
        "session_id": "s-1",
        "messages": [
            {
                "role": "user",
                "speaker": "Ines",
                "content": " The pool is full. ",
                "timestamp": "2026-05-14T08:10:00+02:00",
            },
            {"role": "assistant", "content": [{"type": "text", "text": "Which?"}], "timestamp": 0},
        ],
    }
    found = turns(tmp_path / "monday.json", chat)
    assert [row.fields for row in found if isinstance(row, Row)] == [
        {
            "memory_key": "chats/monday.json#00000",
            "value": "Ines: The pool is full.",
            "session_id": "s-1",
            "memory_type": "episode",
            "source_class": "imported",
            "source_resource_id": "chats/monday.json",
            "valid_at": "2026-05-14T06:10:00Z",
        },
        {
            "memory_key": "chats/monday.json#00001",
            "value": "Assistant: Which?",
            "session_id": "s-1",
            "memory_type": "episode",
            "source_class": "imported",
            "source_resource_id": "chats/monday.json",
            "valid_at": "1970-01-01T00:00:00Z",
        },
    ]


def test_a_bare_list_takes_its_session_from_the_file(tmp_path: Path) -> None:
    (row,) = turns(tmp_path / "my chat.json", [{"role": "user", "content": "Hi"}])
    assert isinstance(row, Row)
    assert row.fields["session_id"] == "chats/my-chat"
    assert "valid_at" not in row.fields


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        ({"role": "user"}, "messages[1].content: must be a text that is not empty, or parts of type text"),
        ({"content": "x"}, "messages[1].role: must be a text, such as user or assistant"),
        ({"role": "user", "content": "x", "when": 1}, "messages[1].when: unknown field"),
        (
            {"role": "user", "content": "x", "timestamp": "yesterday"},
            "messages[1].timestamp: must be ISO 8601 or seconds since 1970",
        ),
        (
            {"role": "user", "content": [{"type": "image", "url": "x"}]},
            "messages[1].content: must be a text that is not empty, or parts of type text",
        ),
    ],
)
def test_a_broken_turn_is_named_and_the_others_keep_their_numbers(tmp_path: Path, turn: object, reason: str) -> None:
    good = {"role": "user", "content": "Hi"}
    found = turns(tmp_path / "a.json", [good, turn, good])
    assert str(found[1]) == f"chats/a.json:{reason}"
    assert isinstance(found[2], Row)
    assert found[2].fields["memory_key"] == "chats/a.json#00002"


@pytest.mark.parametrize(
    ("chat", "start"),
    [
        (b"[{", "chats/a.json:1: not JSON"),
        ({"name": "package"}, "chats/a.json:messages: a chat is a list"),
        ("text", "chats/a.json: a chat is a list"),
        ({"messages": [], "model": "x"}, "chats/a.json:model: unknown field"),
        ({"messages": [], "session_id": 7}, "chats/a.json:session_id: must be a text"),
    ],
)
def test_what_is_no_chat_is_named(tmp_path: Path, chat: object, start: str) -> None:
    (fault,) = turns(tmp_path / "a.json", chat)
    assert str(fault).startswith(start)
