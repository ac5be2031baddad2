"""Where a run was made: machine, versions, the settings that differ from their defaults.

The version of `loom` has the first digits of a SHA-256 over its source files behind a `+`, since a version number
does not tell two states of a checkout apart.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from pydantic import SecretStr

import loom_client
import loom_schema
import loom_server
from loom_server import __version__
from loom_server.settings import Settings
from loom_server.sources import variable

_OF_THE_PLACE = frozenset({"config", "data_dir", "host", "port", "allowed_hosts", "trusted_network"})
"""Settings that say where the service runs and change no answer."""


def changed(settings: Settings) -> dict[str, str]:
    """Variables whose value is not the default; secrets and places are left out."""
    fields = Settings.model_fields.items()
    told = ((name, getattr(settings, name), info.default) for name, info in fields if name not in _OF_THE_PLACE)
    return {
        variable(name): str(value) for name, value, usual in told if value != usual and not isinstance(value, SecretStr)
    }


def versions() -> Mapping[str, str]:
    """`loom`, `engine` and `python`."""
    return {
        "loom": f"{__version__}+{_sources()}",
        "engine": f"chdb-core {version('chdb-core')}",
        "python": platform.python_version(),
    }


def _sources() -> str:
    """Twelve digits over the modules and migrations that this process runs."""
    digest = sha256()
    for package in (loom_server, loom_client, loom_schema):
        folder = Path(str(package.__file__)).parent
        for file in sorted(one for one in folder.rglob("*") if one.suffix in (".py", ".sql")):
            digest.update(f"{package.__name__}/{file.relative_to(folder).as_posix()}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def machine() -> str:
    """Processors and their model, the system."""
    return f"{os.cpu_count()} x {_processor()}, {platform.system()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
