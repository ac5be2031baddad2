"""Files of a set, plain or gzipped, and the one way to say what is wrong in them: `FILE, line N: …`.

The data hash is the SHA-256 over each canonical file's name, length and bytes after decompression,
so that `corpus.jsonl` and `corpus.jsonl.gz` of the same rows are the same data.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import cast

import orjson

from loom_server.errors import InvalidInput
from loom_server.model.strict_json import load


@dataclass(frozen=True, slots=True)
class Row:
    """An object of a file, and where it stands."""

    where: str
    fields: Mapping[str, object]

    def text(self, name: str, default: str | None = None) -> str:
        """A field's text; a number counts as its text. Raises `InvalidInput` naming the place."""
        value = self.fields.get(name)
        if value is None and default is not None:
            return default
        if isinstance(value, str):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        raise self.wrong(name, "must be text", value)

    def items(self, name: str, default: tuple[object, ...] | None = None) -> tuple[object, ...]:
        """A field's list."""
        value = self.fields.get(name)
        if value is None and default is not None:
            return default
        if isinstance(value, list):
            return tuple(cast("list[object]", value))
        raise self.wrong(name, "must be a list", value)

    def inner(self, name: str) -> Row:
        """A field's object; an empty one where the field is missing or null."""
        value = self.fields.get(name)
        if value is None:
            return Row(f"{self.where}, {name}", {})
        return as_row(value, f"{self.where}, {name}")

    def wrong(self, name: str, rule: str, value: object) -> InvalidInput:
        """The error about one field."""
        is_there = "is missing" if value is None and name not in self.fields else f"{rule}, not {type(value).__name__}"
        return InvalidInput(f"{self.where}: '{name}' {is_there}.")


def as_row(value: object, where: str) -> Row:
    """An object as a row. Raises `InvalidInput` for anything else."""
    if not isinstance(value, dict):
        raise InvalidInput(f"{where}: must be a JSON object, not {type(value).__name__}.")
    return Row(where, cast("dict[str, object]", value))


def found(folder: Path, *names: str) -> Path | None:
    """The first of the files that is there, plain before gzipped."""
    candidates = (folder / f"{name}{ending}" for name in names for ending in ("", ".gz"))
    return next((path for path in candidates if path.is_file()), None)


def content(path: Path) -> bytes:
    """The file's bytes, decompressed. Raises `InvalidInput` where it cannot be read."""
    try:
        raw = path.read_bytes()
        return gzip.decompress(raw) if path.suffix == ".gz" else raw
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(f"{path}: cannot be read ({type(error).__name__}: {error}).") from None


def text_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Where each line that is not empty stands, and the line. Raises `InvalidInput` for bytes that are not UTF-8."""
    for number, raw in enumerate(content(path).splitlines(), start=1):
        where = f"{path}, line {number}"
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise InvalidInput(f"{where}: is not UTF-8.") from None
        if line.strip():
            yield where, line


def json_lines(path: Path) -> Iterator[Row]:
    """The objects of a JSONL file. Raises `InvalidInput` naming the line."""
    for where, line in text_lines(path):
        yield as_row(parsed(line, where), where)


def parsed(text: str | bytes, where: str) -> object:
    """JSON, or `InvalidInput` that names the place."""
    try:
        return load(text)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f"{where}: is not JSON ({error.msg}, line {error.lineno} of it).") from None


def hash_of(files: Iterable[tuple[str, bytes]]) -> str:
    """The data hash of canonical files, given by name and content, in this order."""
    digest = sha256()
    for name, body in files:
        digest.update(f"{name}\0{len(body)}\0".encode())
        digest.update(body)
    return digest.hexdigest()
