from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from loom_server.cli.command import Shell, command, identity_command, settings_of
from loom_server.errors import ConfigError, InvalidInput, NotFound

Word = Annotated[str, typer.Argument(help="A word.")]


def body(shell: Shell, word: Word) -> int:
    """Do what the word says."""
    if word == "missing":
        raise NotFound("There is no such thing; make it first.")
    if word == "wrong":
        raise InvalidInput.field("word", "is not a word; take another")
    if word == "broken":
        raise ZeroDivisionError("by zero")
    if word == "abstain":
        return 3
    shell.screen.show(f"[bold]{word}[/bold]")
    shell.screen.say("beside the data")
    if shell.screen.as_json:
        shell.screen.data({"word": word, "identity": dict(shell.identity), "dir": str(shell.settings.data_dir)})
    return 0


def app_of(*, identity: bool = False) -> typer.Typer:
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()((identity_command if identity else command)(body))
    return app


def run(*arguments: str, identity: bool = False):
    return CliRunner().invoke(app_of(identity=identity), list(arguments))


def test_data_goes_to_stdout_and_the_rest_beside_it() -> None:
    result = run("hello")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "[bold]hello[/bold]\n", "beside the data\n")


def test_json_is_the_only_thing_on_stdout() -> None:
    result = run("hello", "--json", "--data-dir", "/tmp/x", "--user", "mara", "-n", "design", identity=True)
    assert json.loads(result.stdout) == {
        "word": "hello",
        "identity": {"namespace": "design", "user_id": "mara"},
        "dir": "/tmp/x",
    }


@pytest.mark.parametrize(
    ("word", "code", "told"),
    [
        ("missing", 1, "Error: There is no such thing; make it first.\n"),
        ("wrong", 2, "Error: word: is not a word; take another\n"),
        ("abstain", 3, ""),
    ],
)
def test_errors_leave_as_a_sentence_and_an_exit_code(word: str, code: int, told: str) -> None:
    result = run(word)
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", told)


@pytest.mark.parametrize(
    ("arguments", "name"), [(("\udcff",), "word"), (("caf\udce9",), "word"), (("hello", "-n", "\udcff"), "namespace")]
)
def test_bytes_that_are_not_utf_8_are_wrong_usage(arguments: tuple[str, ...], name: str) -> None:
    result = run(*arguments, identity=True)
    told = f"Error: {name}: holds bytes that are not UTF-8; give it as UTF-8\n"
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", told)


def test_an_unknown_error_leaves_no_traceback() -> None:
    result = run("broken")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ZeroDivisionError: by zero.")
    assert "Traceback" not in result.stderr


def test_wrong_usage_is_exit_code_2() -> None:
    assert run().exit_code == 2
    assert run("hello", "--no-such-option").exit_code == 2


def test_help_shows_the_commands_options_and_those_of_all() -> None:
    shown = run("--help", identity=True).stdout
    assert "Do what the word says." in shown
    for option in ("--json", "--data-dir", "--namespace", "--user"):
        assert option in shown


def test_a_setting_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_PORT", "eighty")
    with pytest.raises(ConfigError, match="LOOM_PORT"):
        settings_of()
    result = run("hello")
    assert result.exit_code == 2
    assert "LOOM_PORT" in result.stderr


def test_the_command_line_is_above_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LOOM_DATA_DIR", "/elsewhere")
    assert settings_of().data_dir == Path("/elsewhere")
    assert settings_of(tmp_path, port=1234).data_dir == tmp_path
    assert settings_of(tmp_path, port=1234).port == 1234


@dataclass(frozen=True, slots=True)
class Several:
    """Options of one command."""

    often: Annotated[int, typer.Option(help="How often.")] = 1
    tag: Annotated[list[str] | None, typer.Option(help="May be repeated.")] = None


def test_a_dataclass_stands_for_an_option_a_field() -> None:
    seen: list[tuple[str, Several]] = []

    def grouped(shell: Shell, word: Word, several: Several) -> int:
        seen.append((word, several))
        return 0

    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(command(grouped))
    assert CliRunner().invoke(app, ["a"]).exit_code == 0
    assert CliRunner().invoke(app, ["b", "--often", "3", "--tag", "x", "--tag", "y"]).exit_code == 0
    assert [(word, one.often, list(one.tag or ())) for word, one in seen] == [("a", 1, []), ("b", 3, ["x", "y"])]
    assert CliRunner().invoke(app, ["a", "--tag", "\udcff"]).exit_code == 2
