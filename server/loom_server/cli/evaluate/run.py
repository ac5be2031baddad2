"""`loom eval run`: judged sets into a store of their own, or judged queries about yours; a table, and a run file."""

from __future__ import annotations

import shlex
import sys
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from loom_client import wire
from loom_server.cli.command import DONE, Shell, settings_of
from loom_server.cli.door import open_door
from loom_server.cli.evaluate.shown import show_run
from loom_server.errors import InvalidInput
from loom_server.evaluation.datasets.base import Dataset
from loom_server.evaluation.datasets.read import places, read
from loom_server.evaluation.modes import ALL, MODES, modes
from loom_server.evaluation.questions import OFF_TOPIC
from loom_server.evaluation.run import Place, Plan, Watch
from loom_server.evaluation.runfile import Run, read_run, write_run
from loom_server.evaluation.session import Wish, check_for_store, run_in_own_store, run_in_store
from loom_server.evaluation.summary import summarise

Data = Annotated[
    list[Path], typer.Argument(help="Folders in BEIR's form, folders of such, LoCoMo or LongMemEval files.")
]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run."""

    sets: Annotated[str, typer.Option(help="Only these sets of a folder of sets, with commas between.")] = ""
    mode: Annotated[
        list[str] | None, typer.Option("--mode", "-m", help=f"A mode of {', '.join(MODES)}, or {ALL}; may be repeated.")
    ] = None
    embedder: Annotated[str | None, typer.Option(help="Such as static or minilm; else LOOM_EMBEDDER.")] = None
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the run file here.")] = None
    baseline: Annotated[Literal["none", "oracle"], typer.Option(help="A plain ranking beside the service.")] = "none"
    floor: Annotated[Literal["off", "on"], typer.Option(help="Rank without the noise floor, or as shipped.")] = "off"
    limit: Annotated[int | None, typer.Option(min=1, help="Most questions of each kind in a set.")] = None
    off_topic: Annotated[int, typer.Option(min=0, help="Most off-topic questions of a set.")] = OFF_TOPIC
    callers: Annotated[int, typer.Option(min=1, max=64, help="Searches at once; each then takes longer.")] = 1
    seed: Annotated[int, typer.Option(min=0, help="Seed of the intervals.")] = 0
    resume: Annotated[bool, typer.Option("--resume", help="Take the sets that the run file has already.")] = False

    def wish(self) -> Wish:
        """What is to be run."""
        plan = Plan(modes(self.mode or ()), self.floor, self.limit, self.off_topic, self.callers)
        return Wish(plan, shlex.join(["loom", *sys.argv[1:]]), self.seed, self.baseline == "oracle")


def run(shell: Shell, data: Data, options: Options) -> int:
    """Ask judged questions in each mode and measure the answers."""
    wish = options.wish()
    namespace = shell.identity.get("namespace", "")
    if shell.identity and not namespace:
        raise InvalidInput.field("--namespace", "must be named where queries are asked of your own store")
    named = [name for name in options.sets.split(",") if name]
    datasets = [read(path, namespace) for one in data for path in places(one, named)]
    made = _ask_own(shell, datasets, wish) if namespace else _ask_sets(shell, datasets, wish, options)
    if options.out is not None:
        write_run(made, options.out)
    summaries = [summarise(one, wish.seed) for one in made.sets]
    if shell.screen.as_json:
        sets = zip(made.sets, summaries, strict=True)
        told = [{"set": one.name, "data_hash": one.data_hash, **asdict(summary)} for one, summary in sets]
        shell.screen.data({"about": asdict(made.about), "sets": told})
    show_run(shell.screen, made, summaries)
    return DONE


def _ask_sets(shell: Shell, datasets: list[Dataset], wish: Wish, options: Options) -> Run:
    """The sets in a store of their own; the run file is written after each, so that a stopped run can go on."""
    settings = settings_of(shell.settings.data_dir, embedder=options.embedder)
    out = options.out
    if options.resume and out is None:
        raise InvalidInput.field("--resume", "needs --out, the run file to go on from")
    before = read_run(out) if options.resume and out is not None and out.exists() else None

    def keep(run: Run) -> None:
        if out is not None:
            write_run(run, out)

    return run_in_own_store(datasets, settings, wish, lambda name: _bar(shell, name), keep, before)


def _ask_own(shell: Shell, datasets: list[Dataset], wish: Wish) -> Run:
    """Judged queries of the configured store, or of the server that owns it."""
    check_for_store(datasets, wish)
    with open_door(shell.settings) as door:
        health = door.health(wire.OpsHealthRequest())
        place = Place(shell.identity)
        return run_in_store(datasets, door, health, shell.settings, wish, place, lambda name: _bar(shell, name))


def _bar(shell: Shell, name: str) -> AbstractContextManager[Watch]:
    return shell.screen.progress(f"Asking {name}")
