"""A path into judged sets: the shape is read off the files, never off their names.

    folder with corpus.jsonl[.gz]                BEIR's form
    folder of such folders and files             each a set, in the order of their names
    .json, .json.gz, .jsonl, .jsonl.gz           by the fields of the first object: LoCoMo, LongMemEval, judged queries
    .csv                                         judged queries

What fits none is an `InvalidInput` that names the line and the fields that were looked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import cast

from loom_server.errors import InvalidInput
from loom_server.evaluation.datasets.base import Dataset
from loom_server.evaluation.datasets.beir import is_beir, read_beir
from loom_server.evaluation.datasets.judged import is_judged, read_judged
from loom_server.evaluation.datasets.lines import Row, as_row, content, hash_of, json_lines, parsed
from loom_server.evaluation.datasets.locomo import is_locomo, read_locomo
from loom_server.evaluation.datasets.longmemeval import is_longmemeval, read_longmemeval

FILES = (".json", ".json.gz", ".jsonl", ".jsonl.gz", ".csv")
LOOKED_FOR = "conversation and qa (LoCoMo), question_id and haystack_sessions (LongMemEval), or query and relevant"


def places(path: Path, sets: Collection[str] = ()) -> list[Path]:
    """The sets at a path, those named by `sets` alone where any are. Raises `InvalidInput` where there is none."""
    if not path.exists():
        raise InvalidInput(f"{path}: is not there.")
    if path.is_file() or is_beir(path):
        return [path]
    found = [one for one in sorted(path.iterdir()) if is_beir(one)] if path.is_dir() else []
    named = [one for one in found if not sets or one.name in sets]
    absent = sorted(set(sets) - {one.name for one in found})
    if absent:
        raise InvalidInput(
            f"{path}: has no set {', '.join(absent)}; it holds {', '.join(p.name for p in found) or 'none'}."
        )
    if not named:
        raise InvalidInput(f"{path}: holds no corpus.jsonl, nor folders that do.")
    return named


def read(path: Path, namespace: str = "") -> Dataset:
    """The set at one of `places`. `namespace` is where judged queries are asked."""
    if path.is_dir():
        return read_beir(path)
    if not path.name.endswith(FILES):
        raise InvalidInput(f"{path}: is no {', '.join(FILES)} file, and no folder.")
    data_hash = hash_of([("data", content(path))])
    if path.suffix == ".csv":
        return read_judged(path, namespace, data_hash)
    rows = list(_objects(path))
    if not rows:
        raise InvalidInput(f"{path}: holds nothing.")
    if is_judged(rows[0]):
        return read_judged(path, namespace, data_hash)
    if is_locomo(rows[0]):
        return read_locomo(path, rows, data_hash)
    if is_longmemeval(rows[0]):
        return read_longmemeval(path, rows, data_hash)
    fields = ", ".join(sorted(rows[0].fields)[:8]) or "no field"
    raise InvalidInput(f"{rows[0].where}: has {fields}; looked for {LOOKED_FOR}.")


def _objects(path: Path) -> Iterator[Row]:
    if ".jsonl" in path.suffixes:
        yield from json_lines(path)
        return
    value = parsed(content(path), str(path))
    if not isinstance(value, list):
        raise InvalidInput(f"{path}: must be a JSON list of conversations or questions, not {type(value).__name__}.")
    for number, one in enumerate(cast("list[object]", value), start=1):
        yield as_row(one, f"{path}, object {number}")
