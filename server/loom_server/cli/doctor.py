"""`loom doctor`: what is well, what is not, and the command that mends it. Exit code 1 where anything is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from loom_client import wire
from loom_server.cli import checks
from loom_server.cli.checks import Check
from loom_server.cli.command import DONE, FAILED, Shell
from loom_server.cli.door import Door
from loom_server.cli.remote import RemoteServices
from loom_server.embed.base import Embedder
from loom_server.embed.choose import make_embedder
from loom_server.errors import ConfigError, LoomError, StoreLocked
from loom_server.keep.evidence import namespaces
from loom_server.keep.neighbours import Neighbours
from loom_server.keep.sweep import sweep
from loom_server.model.clock import SystemClock
from loom_server.model.scope import Scope
from loom_server.settings import Settings
from loom_server.sources import Read
from loom_server.store.choose import AnyStore, open_store, place_of
from loom_server.store.lock import owner_of
from loom_server.store.migrate import migrate
from loom_server.store.process import GONE_S, Process
from loom_server.store.rollups import Tokenizer, mend

CHECKS = 13
"""About how many there are, for the bar."""

Mend = Annotated[bool, typer.Option("--mend", help="First finish what a crash left and rebuild wrong roll-ups.")]


def doctor(shell: Shell, mend: Mend = False) -> int:
    """Check versions, the data directory, the lock, the schema, the stored memories and their roll-ups."""
    with shell.screen.progress("Checking") as advance:
        found: list[Check] = []
        for check in _checks(shell.read, mend):
            found.append(check)
            advance(min(1.0, len(found) / CHECKS), check.name)
    if shell.screen.as_json:
        shell.screen.data([asdict(check) for check in found])
    shell.screen.show(_table(found), _summary(found))
    return DONE if all(check.ok for check in found) else FAILED


def _checks(read: Read, mending: bool) -> Iterator[Check]:
    settings = read.settings
    yield checks.variables(read)
    well = True
    for check in checks.machine(settings):
        well = well and check.ok
        yield check
    if settings.clickhouse_url.get_secret_value():
        yield from _store(settings, mending)
    elif not settings.data_dir.exists():
        yield Check("store", True, "none yet; the first write makes it")
        yield checks.chosen(settings)
    elif well:
        yield from _store(settings, mending)


def _store(settings: Settings, mending: bool) -> Iterator[Check]:
    try:
        store = open_store(settings)
    except StoreLocked as error:
        yield from _locked(settings, error)
        return
    except LoomError as error:
        yield Check("store", False, error.message, checks.elsewhere(settings))
        return
    try:
        yield _place(store, settings)
        embedder = make_embedder(settings)
        yield checks.working(embedder)
        if mending:
            _mend(store, embedder)
        schema = tuple(checks.schema(store))
        yield from schema
        if all(check.ok for check in schema):
            yield from checks.contents(store, embedder)
    except ConfigError as error:
        yield Check("embedder", False, error.message, checks.MEND_EMBEDDER)
    except LoomError as error:
        yield Check("store", False, error.message, "" if mending else checks.MEND_MEMORIES)
    finally:
        store.close()


def _place(store: AnyStore, settings: Settings) -> Check:
    if store.shared:
        return Check("store", True, f"{place_of(settings)} answers; other processes may write to it meanwhile")
    clean = "the last close was clean" if store.was_clean else "the last close was not clean; the next start sweeps"
    return Check("lock", True, f"free; {clean}")


def _mend(store: AnyStore, embedder: Embedder) -> None:
    """Bring the schema up to date, finish what a crash left, and rebuild roll-ups that are wrong."""
    migrate(store)
    tokenizer = Tokenizer(embedder.identity.name, embedder.tokens)
    if store.shared:
        _mend_among_others(store, tokenizer)
        return
    swept = sweep(store, embedder)
    for org, namespace in namespaces(store):
        mend(store, Scope(org, namespace), tokenizer)
    if swept.whole:
        store.settle()


def _mend_among_others(store: AnyStore, tokenizer: Tokenizer) -> None:
    """The same while other processes may write: what they are in the middle of is left to them."""
    clock = SystemClock()
    process = Process.join(store, clock, store.timeout_s)
    try:
        neighbours = Neighbours.of(store, process, clock, tokenizer)
        if neighbours is not None:
            neighbours.sweep(GONE_S)
            for org, namespace in namespaces(store):
                neighbours.mend(org, namespace)
    finally:
        process.close()


def _locked(settings: Settings, error: StoreLocked) -> Iterator[Check]:
    """A server holds the store: it is asked how it is."""
    owner = owner_of(settings.data_dir)
    if owner is None or not owner.address:
        yield Check("lock", False, error.message, f"kill {owner.pid}" if owner else "loom doctor")
        return
    try:
        with closing(RemoteServices(owner.address)) as remote:
            health = Door(remote).health(wire.OpsHealthRequest())
    except LoomError as problem:
        yield Check("server", False, problem.message, f"kill {owner.pid} && loom serve")
        return
    yield from checks.served(owner, health)


def _table(found: list[Check]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("check", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("found", overflow="fold")
    table.add_column("to mend it", overflow="fold")
    for check in found:
        mark = Text("ok", style="green") if check.ok else Text("failed", style="bold red")
        table.add_row(check.name, mark, check.detail, check.mend)
    return table


def _summary(found: list[Check]) -> Text:
    failed = [check.name for check in found if not check.ok]
    if not failed:
        return Text(f"All {len(found)} checks are well.", style="green")
    return Text(f"{len(failed)} of {len(found)} checks failed: {', '.join(failed)}.", style="bold red")
