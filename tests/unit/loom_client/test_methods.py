"""The generated methods: they are what the wire says, and a type checker understands all of them."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import client_methods
from loom_client import arguments, async_methods, methods, wire
from loom_client.wire.marks import unbuilt

ROOT = Path(__file__).resolve().parents[3]
USER = """
from loom_client import AsyncClient, Client, Conflict, RetryPolicy, wire


def remember(loom: Client) -> list[str]:
    answer = loom.memory.set("deploy/window", {"day": ["Tuesday", 1]}, tags=["ops"], valid_at="2026-05-01")
    version: int = answer.version
    loom.memory.set_many([{"memory_key": "a", "value": version}, wire.MemoryItem(memory_key="b", value=None)])
    found = loom.memory.search("when", search_mode="hybrid", candidates={"fact": 20}, top_k=3)
    whole: wire.MemorySearchResponse = loom.call(wire.MemorySearchRequest(query="when"))
    return [hit.memory_key for hit in (*found.results, *whole.results)] + [m.memory_key for m in loom.memory.list_all()]


async def again(loom: AsyncClient) -> bool:
    try:
        await loom.memory.update("a", value=2, if_match_sha256="0" * 64)
    except Conflict as error:
        return error.retryable
    return (await loom.memory.get("a")).found


with Client(retries=RetryPolicy(attempts=2)) as loom:
    remember(loom)
"""
WRONG = """
from loom_client import Client

with Client() as loom:
    loom.memory.search("q", top_k="3")
    loom.memory.search("q", topk=3)
    loom.memory.search("q", search_mode="best")
    loom.memory.search("q", hyde=True)
    loom.memory.set("k")
    loom.memory.set("k", object())
    loom.memory.set_many([{"memory_key": "k"}])
    loom.memory.serch("q")
    answer: str = loom.memory.get("k")
"""


@pytest.mark.parametrize("module", ["arguments.py", "methods.py", "async_methods.py"])
def test_a_generated_module_is_what_the_wire_makes(module: str) -> None:
    assert (client_methods.CLIENT / module).read_text(encoding="utf-8") == client_methods.modules()[module]


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("contract", wire.CONTRACTS.values(), ids=lambda one: one.name)
def test_a_method_takes_the_fields_of_its_request(contract: wire.Contract, waits: bool) -> None:
    family, _, name = contract.name.partition(".")
    module: Any = async_methods if waits else methods
    method = getattr(getattr(module, f"{'Async' if waits else ''}{family.title()}Methods"), name)
    _, *required, rest = inspect.signature(method).parameters.values()
    fields = contract.request.model_fields
    assert inspect.iscoroutinefunction(method) == waits
    assert [one.name for one in required] == [one for one, info in fields.items() if info.is_required()]
    assert rest.kind is inspect.Parameter.VAR_KEYWORD
    optional = getattr(arguments, f"{contract.request.__name__.removesuffix('Request')}Fields")
    taken = {one.name for one in required} | optional.__annotations__.keys()
    assert taken == fields.keys() - unbuilt(contract.request)
    assert get_type_hints(method, vars(module))["return"] is contract.response
    assert method.__doc__ == contract.summary


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client as the wheel brings it."""
    folder = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        wheel = zipfile.ZipFile(folder / import_module("hatchling.build").build_wheel(str(folder)))
    members = [name for name in wheel.namelist() if name.startswith("loom_client/")]
    assert "loom_client/py.typed" in members
    wheel.extractall(folder / "site", members)
    return folder


def checked(folder: Path, script: str) -> list[dict[str, Any]]:
    """What pyright, strict, says of a user's script."""
    (folder / "user.py").write_text(script, encoding="utf-8")
    settings = {
        "include": ["user.py"], "typeCheckingMode": "strict", "extraPaths": ["site"], "pythonVersion": "3.11",
        "venvPath": str(Path(sys.prefix).parent), "venv": Path(sys.prefix).name,
    }  # fmt: skip
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "-p", str(folder)]
    told = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    return json.loads(told.stdout)["generalDiagnostics"]


def test_a_script_that_is_right_passes_a_strict_check(installed: Path) -> None:
    assert checked(installed, USER) == []


def test_a_script_that_is_wrong_is_told_each_fault(installed: Path) -> None:
    lines = {one["range"]["start"]["line"] for one in checked(installed, WRONG) if one["severity"] == "error"}
    first = WRONG.splitlines().index('    loom.memory.search("q", top_k="3")')
    assert lines == set(range(first, first + 9))


def test_the_wire_alone_loads_no_http_library() -> None:
    script = "import sys; import loom_client.wire, loom_client.errors; sys.exit('httpx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
