"""What `loom doctor` looks at, each check with the command that mends what it finds.

Checks of the machine need no store. The store's own are made on a store that this process opened,
so a running server is asked for its health instead: its store has one owner.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import loom_schema
from loom_client import wire
from loom_server.analysis.analyse import ANALYZER_VERSION
from loom_server.cli.screen import counted
from loom_server.embed.base import Embedder, Probed
from loom_server.embed.choose import make_embedder
from loom_server.errors import ConfigError, EmbedError, MigrationEdited, SchemaUnfit
from loom_server.keep.integrity import check
from loom_server.keep.lacking import lacking
from loom_server.keep.terms import check_terms
from loom_server.settings import Settings
from loom_server.sources import Read
from loom_server.store.lock import Owner
from loom_server.store.migrate import pending
from loom_server.store.namespaces import ORG_ROW
from loom_server.store.store import Statement, Store

LEAST_PYTHON = (3, 11)
LEAST_ENGINE = (26, 9)
LEAST_FREE_BYTES = 1_000_000_000
MEND_EMBEDDER = "loom config show, then set what is said"
MEND_MEMORIES = "loom doctor --mend"
MEND_SCHEMA = "start the Loom that wrote it, or restore a backup"
MEND_VECTORS = "loom reembed"
MEND_MODEL = f"{MEND_VECTORS}, or export LOOM_EMBEDDER=<the embedder of those vectors>"
MEND_TERMS = "loom ingest <their files> --data-dir <a new directory>"
_MODELS = """
SELECT org, argMax(embedding_model, version) AS model
FROM loom.namespaces
WHERE namespace = {org_row:String}
GROUP BY org
ORDER BY org
"""
ENGINE_PACKAGES = ("chdb-core", "chdb")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `mend` is the exact command or step where it is not well."""

    name: str
    ok: bool
    detail: str
    mend: str = ""


def variables(read: Read) -> Check:
    """Whether every `LOOM_` variable is a setting. The settings themselves are valid by now."""
    given = sum(origin != "default" for origin in read.origins.values())
    if not read.unknown:
        return Check("settings", True, f"{given} given, the others by default; loom config show lists them")
    in_file = [one.name for one in read.unknown if one.origin == ".env"]
    outside = [one.name for one in read.unknown if one.origin != ".env"]
    steps = [f"unset {' '.join(outside)}"] if outside else []
    steps += [f"take {', '.join(in_file)} out of .env"] if in_file else []
    return Check("settings", False, "; ".join(one.sentence() for one in read.unknown), "; ".join(steps))


def machine(settings: Settings) -> Iterator[Check]:
    """Versions, and the data directory of an embedded store."""
    yield _python()
    if not settings.clickhouse_url.get_secret_value():
        yield _engine_package()
        yield from _data_dir(settings.data_dir)


def elsewhere(settings: Settings) -> str:
    """What to do about a store that cannot be opened."""
    if settings.clickhouse_url.get_secret_value():
        return "export LOOM_CLICKHOUSE_URL=<the address of a server that answers>"
    return "loom doctor --data-dir <another directory>"


def served(owner: Owner, health: wire.OpsHealthResponse) -> Iterator[Check]:
    """A running server's own word."""
    held = f"held by process {owner.pid} since {owner.since}, which answers at {owner.address}"
    yield Check("lock", True, f"{held}; stop it (kill {owner.pid}) to have the store itself checked")
    for one in health.checks:
        mend = MEND_EMBEDDER if one.name == "embedder" else f"kill {owner.pid} && loom doctor"
        yield Check(one.name, one.ok, one.detail, "" if one.ok else mend)
    yield _vectors(health.stale_rows or 0, health.embedding_model)


def schema(store: Store) -> Iterator[Check]:
    """The engine's version, and whether the service would find the migrations that it knows, all applied."""
    engine = store.query(Statement("doctor.engine", "SELECT version() AS version")).column("version")[0]
    yield Check("engine", True, f"version {engine}")
    try:
        left = pending(store)
    except (MigrationEdited, SchemaUnfit) as error:
        yield Check("migrations", False, error.message, MEND_SCHEMA)
        return
    detail = f"not applied: {', '.join(left)}" if left else f"{len(loom_schema.load())} applied, none pending"
    yield Check("migrations", not left, detail, "loom migrate" if left else "")


def chosen(settings: Settings) -> Check:
    """Whether the embedder that the settings name can be made, and works."""
    try:
        return working(make_embedder(settings))
    except ConfigError as error:
        return Check("embedder", False, error.message, MEND_EMBEDDER)


def working(embedder: Embedder) -> Check:
    """Whether it embeds now; a remote one is asked."""
    try:
        if isinstance(embedder, Probed):
            embedder.probe()
    except EmbedError as error:
        return Check("embedder", False, error.message, MEND_EMBEDDER)
    return Check("embedder", True, f"{embedder.identity.name} embeds")


def contents(store: Store, embedder: Embedder) -> Iterator[Check]:
    """The stored memories: what a crash left, the roll-ups, the terms, and whose vectors the orgs hold."""
    report = check(store, embedder)
    detail = " ".join(report.sentences) or f"{report.namespaces} namespaces, every row whole, roll-ups equal a rebuild"
    yield Check("memories", report.sound, detail, "" if report.sound else MEND_MEMORIES)
    yield _terms(store)
    yield _models(store, embedder)
    live = embedder.identity.name
    yield _vectors(lacking(store, live).rows, live)


def _terms(store: Store) -> Check:
    report = check_terms(store)
    detail = f"{report.looked_at - report.differing} of {report.looked_at} sampled rows have the terms of"
    ok = report.differing == 0
    return Check("analyzer", ok, f"{detail} analyzer version {ANALYZER_VERSION}", "" if ok else MEND_TERMS)


def _models(store: Store, embedder: Embedder) -> Check:
    """Orgs whose vectors are of another model are searched by words alone."""
    rows = store.query(Statement("doctor.models", _MODELS, {"org_row": ORG_ROW})).rows()
    live = embedder.identity.name
    other = [f"{org} ({model})" for org, model in rows if model != live]
    if other:
        return Check("embedding model", False, f"{live} serves, others hold {', '.join(other)}", MEND_MODEL)
    return Check("embedding model", True, f"{live}, the model of every org that holds vectors ({len(rows)})")


def _vectors(rows: int, model: str) -> Check:
    """Rows without a vector of the live model are found by their words alone."""
    if rows:
        return Check("vectors", False, f"{counted(rows, 'row')} without a vector of {model}", MEND_VECTORS)
    return Check("vectors", True, f"every row has one of {model}")


def _python() -> Check:
    found = sys.version_info
    ok = found >= LEAST_PYTHON
    needed = ".".join(map(str, LEAST_PYTHON))
    return Check(
        "python", ok, f"{found.major}.{found.minor}.{found.micro}", "" if ok else f"make setup PYTHON=python{needed}"
    )


def _engine_package() -> Check:
    for name in ENGINE_PACKAGES:
        try:
            found = version(name)
        except PackageNotFoundError:
            continue
        ok = tuple(int(part) for part in found.split(".")[:2]) >= LEAST_ENGINE
        least = ".".join(map(str, LEAST_ENGINE))
        return Check("engine package", ok, f"{name} {found}", "" if ok else f'pip install "chdb-core>={least}"')
    return Check("engine package", False, "the embedded engine is not installed", "pip install chdb-core")


def _data_dir(path: Path) -> Iterator[Check]:
    nearest = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        yield Check(
            "data directory", False, f"{nearest} cannot be written", "export LOOM_DATA_DIR=<a writable directory>"
        )
        return
    there = "" if path.exists() else " (made by the first write)"
    yield Check("data directory", True, f"{path}{there}")
    free = shutil.disk_usage(nearest).free
    ok = free >= LEAST_FREE_BYTES
    mend = "" if ok else "free some space there, or export LOOM_DATA_DIR=<a directory on a larger disk>"
    yield Check("disk", ok, f"{free / 1e9:.1f} GB free", mend)
