"""The floors in docs/architecture.md are the ones that import-linter checks."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GROUND = {"loom_client", "loom_schema"}


def drawn() -> list[set[str]]:
    """Folders of each row of the floors table, highest first, rows of one floor joined."""
    rows = re.findall(r"^\| (\d) \| ([^|]+) \|", (ROOT / "docs/architecture.md").read_text(encoding="utf-8"), re.M)
    floors: dict[str, set[str]] = {}
    for number, folders in rows:
        floors.setdefault(number, set()).update(re.findall(r"`(\w+)`", folders))
    return [floors[number] for number in sorted(floors, reverse=True)]


def checked() -> list[set[str]]:
    """Layers of the import contract, highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [set(re.split(r"\s*[|:]\s*", layer)) for layer in layers]


def test_the_floors_in_the_docs_are_the_floors_that_are_checked() -> None:
    above = {folder: number for number, floor in enumerate(drawn()) for folder in floor}
    places = [(number, folder) for number, layer in enumerate(checked()) for folder in layer]
    assert set(above) - GROUND == {folder for _, folder in places}
    assert [above[folder] for _, folder in sorted(places)] == sorted(above[folder] for _, folder in places)


def test_every_folder_of_the_server_is_on_a_floor() -> None:
    server = ROOT / "server" / "loom_server"
    folders = {file.parent.name for file in server.glob("*/__init__.py")} | {file.stem for file in server.glob("*.py")}
    assert folders - {"__init__"} == set().union(*drawn()) - GROUND
