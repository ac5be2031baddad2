from __future__ import annotations

import pytest
from rich.text import Text

from loom_server.cli.screen import Screen, counted


@pytest.mark.parametrize(("number", "told"), [(0, "0 files"), (1, "1 file"), (2, "2 files")])
def test_a_number_agrees_with_its_noun(number: int, told: str) -> None:
    assert counted(number, "file") == told


@pytest.mark.parametrize(("no_color", "plain"), [("1", True), ("", False)])
def test_a_terminal_gets_plain_text_under_no_color(
    no_color: str, plain: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"NO_COLOR": no_color, "FORCE_COLOR": "1", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    Screen.open().show(Text("hello", style="bold red"))
    shown = capsys.readouterr().out
    assert "hello" in shown
    assert ("\x1b" not in shown) is plain
