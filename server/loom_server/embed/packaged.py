"""Data files that an installed package carries, read without importing the package."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from loom_server.errors import ConfigError


def data_file(package: str, name: str, embedder: str, install: str) -> bytes:
    """The file `name` under the site folder of `package`.

    Raises `ConfigError` naming `embedder`, the value of LOOM_EMBEDDER, and what to `install`.
    """
    try:
        path = distribution(package).locate_file(name)
        return Path(str(path)).read_bytes()
    except PackageNotFoundError as error:
        raise ConfigError(
            f'LOOM_EMBEDDER={embedder} needs the package {package}, which is not installed: pip install "{install}".'
        ) from error
    except OSError as error:
        raise ConfigError(f"Package {package} has no readable {name}; reinstall {package}.") from error
