"""Where settings come from: each source over the next, names that are none, and faults told with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from loom_server.errors import ConfigError
from loom_server.settings import Settings
from loom_server.sources import read

SECRET = "s3cret-value-nobody-may-read"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_source_stands_before_the_next(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (read().settings.port, read().origins["port"]) == (7777, "default")
    (folder / "loom.toml").write_text("port = 1001\n")
    assert (read().settings.port, read().origins["port"]) == (1001, "toml")
    (folder / ".env").write_text("LOOM_PORT=1002\n")
    assert (read().settings.port, read().origins["port"]) == (1002, ".env")
    monkeypatch.setenv("LOOM_PORT", "1003")
    assert (read().settings.port, read().origins["port"]) == (1003, "environment")
    assert (read(port=1004).settings.port, read(port=1004).origins["port"]) == (1004, "option")
    assert Settings().port == 1003


@pytest.mark.parametrize("where", ["environment", ".env"])
def test_the_toml_file_may_be_named(folder: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    (folder / "loom.toml").write_text("port = 1001\n")
    (folder / "other.toml").write_text("port = 2002\n")
    if where == "environment":
        monkeypatch.setenv("LOOM_CONFIG", "other.toml")
    else:
        (folder / ".env").write_text("LOOM_CONFIG=other.toml\n")
    found = read()
    assert (found.settings.port, found.origins["config"]) == (2002, where)


def test_a_toml_file_that_is_named_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_CONFIG", "nowhere.toml")
    with pytest.raises(ConfigError, match=r"LOOM_CONFIG names nowhere\.toml, which is no file"):
        read()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("prot = 1\n", r"loom\.toml holds what is no setting there: prot \(near to it: port"),
        ("LOOM_PORT = 1\n", r"LOOM_PORT \(in this file it is called port\)"),
        ('config = "other.toml"\n', "set LOOM_CONFIG"),
        ("[serve]\nport = 1\n", "no setting there: serve"),
        ("port = \n", r"loom\.toml is not TOML: .*line 1"),
    ],
)
def test_a_toml_file_with_anything_else_in_it_is_refused(folder: Path, text: str, told: str) -> None:
    (folder / "loom.toml").write_text(text)
    with pytest.raises(ConfigError, match=told):
        read()


def test_a_toml_file_that_is_not_text_is_refused(folder: Path) -> None:
    (folder / "loom.toml").write_bytes(b"port = '\xff'\n")
    with pytest.raises(ConfigError, match=r"loom\.toml cannot be read as UTF-8"):
        read()


def test_variables_that_are_no_setting_are_told_with_the_names_near_to_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOM_PROT", "1")
    monkeypatch.setenv("LOOM_XYZZY", "1")
    monkeypatch.setenv("LOOM_TEST_CLICKHOUSE_URL", "http://x")
    monkeypatch.setenv("LOOM_API_KEY", SECRET)
    (folder / ".env").write_text("LOOM_KEPT_ROW=3\nLOOM_PROT=2\nOTHER=4\n")
    told = {one.name: (one.origin, one.nearest[:1]) for one in read().unknown}
    assert told == {
        "LOOM_PROT": ("environment", ("LOOM_PORT",)),
        "LOOM_XYZZY": ("environment", ()),
        "LOOM_KEPT_ROW": (".env", ("LOOM_KEPT_ROWS",)),
    }
    assert next(one.sentence() for one in read().unknown).endswith("; near to it: LOOM_PORT")


def test_settings_leave_no_variable_over(monkeypatch: pytest.MonkeyPatch) -> None:
    for field, info in Settings.model_fields.items():
        if field != "config":
            monkeypatch.setenv(f"LOOM_{field.upper()}", str(info.default))
    assert read().unknown == ()
    assert {origin for field, origin in read().origins.items() if field != "config"} == {"environment"}


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("environment", r"LOOM_PORT \(from environment\)"),
        (".env", r"LOOM_PORT \(from \.env\)"),
        ("toml", r"LOOM_PORT \(as port in loom\.toml\)"),
        ("option", r"LOOM_PORT \(given as --port\)"),
    ],
)
def test_a_fault_names_its_setting_and_place_and_never_the_value(
    folder: Path, monkeypatch: pytest.MonkeyPatch, source: str, told: str
) -> None:
    options: dict[str, object] = {}
    if source == "environment":
        monkeypatch.setenv("LOOM_PORT", SECRET)
    elif source == "option":
        options["port"] = SECRET
    else:
        file, text = (".env", f"LOOM_PORT={SECRET}") if source == ".env" else ("loom.toml", f'port = "{SECRET}"')
        (folder / file).write_text(f"{text}\n")
    with pytest.raises(ConfigError, match=f"{told}: Input should be a valid integer") as raised:
        read(**options)
    assert SECRET not in str(raised.value)


def test_every_fault_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOM_PORT", "0")
    monkeypatch.setenv("LOOM_EMBEDDER", "magic")
    with pytest.raises(
        ConfigError, match=r"LOOM_PORT .*equal to 1; LOOM_EMBEDDER .*'static', 'minilm', .* or 'bedrock'"
    ):
        read()
