"""The rows that can be asked for, each a request of `memory.search`.

bm25      mode `bm25_hybrid` with the weight of the leg `fact` at 0: the BM25 leg alone
vector    mode `semantic` with the leg `fact` alone
default   a search that names no mode
others    the mode of that name
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from loom_client import wire
from loom_server.errors import InvalidInput

ALL = "all"
DEFAULT = "default"
_BM25: Mapping[str, object] = {"search_mode": "bm25_hybrid", "leg_weights": {"fact": 0}}
_VECTOR: Mapping[str, object] = {"search_mode": "semantic", "legs": ["fact"]}
MODES: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {DEFAULT: {}, **{mode: {"search_mode": mode} for mode in wire.BUILT_MODES}, "bm25": _BM25, "vector": _VECTOR}
)


def modes(names: Sequence[str]) -> tuple[str, ...]:
    """The modes meant by a command line, each once. Raises `InvalidInput` for an unknown one."""
    for name in names:
        if name != ALL and name not in MODES:
            raise InvalidInput.field("--mode", f"{name!r} is no mode; give {', '.join(MODES)} or {ALL}")
    if ALL in names:
        return tuple(MODES)
    return tuple(dict.fromkeys(names)) or (DEFAULT,)
