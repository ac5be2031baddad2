from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from loom_server import __version__
from loom_server.cli.main import app
from loom_server.settings import Settings


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty working directory with one variable too many."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("LOOM_TOP_K=5\n")
    monkeypatch.setenv("LOOM_PORT", "8080")


def run(app: typer.Typer, *arguments: str):
    return CliRunner().invoke(app, list(arguments))


def shown(*arguments: str) -> dict:
    result = run(app, "config", "show", "--json", *arguments)
    assert result.exit_code == 0
    return json.loads(result.stdout)


def test_every_setting_is_told_with_its_origin() -> None:
    told = {one["name"]: (one["value"], one["origin"]) for one in shown("--data-dir", "/elsewhere")["settings"]}
    assert set(told) == {f"LOOM_{field.upper()}" for field in Settings.model_fields}
    assert told["LOOM_PORT"] == (8080, "environment")
    assert told["LOOM_DATA_DIR"] == ("/elsewhere", "option")
    assert told["LOOM_STATEMENT_TIMEOUT_S"] == (30.0, "default")


def test_a_variable_that_is_no_setting_is_told() -> None:
    (unknown,) = shown()["unknown"]
    assert (unknown["name"], unknown["origin"]) == ("LOOM_TOP_K", ".env")
    result = run(app, "config", "show")
    assert "LOOM_TOP_K (from .env) is no setting of this service" in result.stdout
    assert result.stdout.count("environment") == 1


@pytest.mark.parametrize(("given", "told"), [("s3cret", "********"), ("", "")])
def test_of_a_secret_it_is_told_whether_it_is_set(given: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_LOG_HASH_KEY", given)
    (shown_value,) = [one["value"] for one in shown()["settings"] if one["name"] == "LOOM_LOG_HASH_KEY"]
    assert shown_value == told
    assert "s3cret" not in run(app, "config", "show").stdout


def test_a_setting_that_cannot_be_used_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_PORT", "0")
    result = run(app, "config", "show")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "LOOM_PORT (from environment): Input should be greater than or equal to 1" in result.stderr


def test_the_version_is_told() -> None:
    result = run(app, "--version")
    assert (result.exit_code, result.stdout) == (0, f"loom {__version__}\n")
