"""The part of a lock that some packages need, with its hashes: `python locked.py requirements-dev.lock onnxruntime`.

    a block is kept where it is one of the packages, or its "via" names a package that is kept

pip asks for hashes of everything or of nothing, so what it is to install must stand in one list, and no more than that.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

_BLOCK = re.compile(r"^([A-Za-z0-9._-]+)==.*?(?=^[A-Za-z0-9]|\Z)", re.MULTILINE | re.DOTALL)
_PARENT = re.compile(r"^ +#(?: via)? +([A-Za-z0-9._-]+)$", re.MULTILINE)


def blocks(lock: str) -> Iterator[tuple[str, str]]:
    """Each package of a lock with its lines."""
    return ((found[1], found[0]) for found in _BLOCK.finditer(lock))


def part(lock: str, names: Iterable[str]) -> str:
    """The blocks that `names` need, in the order of the lock. Exits where one is not pinned."""
    pinned = dict(blocks(lock))
    kept = {re.split(r"[\[<>=!~ ]", name)[0].lower().replace("_", "-") for name in names}
    if missing := kept - pinned.keys():
        sys.exit(f"The lock does not pin {', '.join(sorted(missing))}.")
    parents = {name: set(_PARENT.findall(text)) for name, text in pinned.items()}
    before = -1
    while before != len(kept):
        before = len(kept)
        kept |= {name for name, found in parents.items() if found & kept}
    return "".join(text for name, text in pinned.items() if name in kept)


if __name__ == "__main__":
    sys.stdout.write(part(Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[2:]))
