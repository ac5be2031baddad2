"""What extras of pyproject.toml ask for, a name a line: `python extras.py pyproject.toml minilm`."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path


def names(project: Path, extras: str) -> list[str]:
    """The packages of the extras named, with commas between. Exits where one is not known."""
    known: dict[str, list[str]] = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    wanted = [name.strip() for name in extras.split(",") if name.strip()]
    if unknown := [name for name in wanted if name not in known]:
        sys.exit(f"No extra is called {', '.join(unknown)}; there are {', '.join(sorted(known))}.")
    return [re.split(r"[\[<>=!~ ]", requirement)[0] for name in wanted for requirement in known[name]]


if __name__ == "__main__":
    sys.stdout.writelines(f"{name}\n" for name in names(Path(sys.argv[1]), sys.argv[2]))
