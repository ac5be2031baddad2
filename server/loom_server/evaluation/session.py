"""A whole run: every set into one store made for it, set after set, and the head that says where it was made.

A set that an earlier run of the same file has answered already, with the same data, code, settings and questions, is
taken from there, so a long run that was stopped goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from loom_client import wire
from loom_server.embed.base import Embedder
from loom_server.errors import ConfigError, InvalidInput
from loom_server.evaluation.about import changed, machine, versions
from loom_server.evaluation.datasets.base import Dataset
from loom_server.evaluation.run import Baseline, Place, Plan, Watch, run_set, settled
from loom_server.evaluation.runfile import SCHEMA, About, Run, SetRun
from loom_server.evaluation.target import ServiceTarget, Target, temporary_services
from loom_server.settings import Settings

Bar = Callable[[str], AbstractContextManager[Watch]]
"""A bar with a title, while a set runs."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be run, and the line that asked for it."""

    plan: Plan
    command: str
    seed: int = 0
    oracle: bool = False


def run_in_own_store(
    datasets: Sequence[Dataset],
    settings: Settings,
    wish: Wish,
    bar: Bar,
    keep: Callable[[Run], None],
    before: Run | None,
) -> Run:
    """Run the sets in a store of their own. `keep` hears the run after each set; `before` is a run to go on from.

    Raises `InvalidInput` for a set without documents, and what `run_set` raises.
    """
    _check(datasets)
    with temporary_services(settings, remember=wish.oracle) as services:
        own = services.settings
        embedder = services.searcher.embedder
        plan = replace(wish.plan, baseline=_baseline(embedder)) if wish.oracle else wish.plan
        about = _about(wish, own, embedder.identity.name)
        known = _known(before, about, wish)
        done: list[SetRun] = []
        for number, dataset in enumerate(datasets):
            found = known.get((dataset.name, dataset.data_hash))
            if found is None:
                with bar(dataset.name) as watch:
                    place = settled(dataset, f"eval-{number}")
                    found = run_set(dataset, ServiceTarget(services), plan, place, watch)
            done.append(found)
            keep(Run(SCHEMA, about, tuple(done)))
        return Run(SCHEMA, about, tuple(done))


def run_in_store(
    datasets: Sequence[Dataset], target: Target, health: wire.OpsHealthResponse, settings: Settings, wish: Wish,
    place: Place, bar: Bar
) -> Run:  # fmt: skip
    """Ask judged queries of a store that is there; `check_for_store` comes first.

    The settings told are this process's own; a server may have others.
    """
    about = replace(_about(wish, settings, health.embedding_model), loom=health.version)
    done: list[SetRun] = []
    for dataset in datasets:
        with bar(dataset.name) as watch:
            done.append(run_set(dataset, target, wish.plan, place, watch))
    return Run(SCHEMA, about, tuple(done))


def check_for_store(datasets: Sequence[Dataset], wish: Wish) -> None:
    """Refuse what has no place in a store that is there: sets with documents, and the oracle."""
    for dataset in datasets:
        if dataset.documents:
            raise InvalidInput(
                f"{dataset.name}: has documents of its own; leave --namespace out to load them elsewhere."
            )
    if wish.oracle:
        raise InvalidInput.field("--baseline", "the oracle ranks the documents of a set; judged queries have none")


def _check(datasets: Sequence[Dataset]) -> None:
    names = [dataset.name for dataset in datasets]
    for dataset in datasets:
        if not dataset.documents:
            raise InvalidInput(f"{dataset.name}: has judged queries alone; name their namespace with --namespace.")
        if names.count(dataset.name) > 1:
            raise InvalidInput(f"{dataset.name}: two sets have this name; run them one by one.")


def _about(wish: Wish, settings: Settings, embedder: str) -> About:
    return About(
        command=wish.command,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=machine(),
        embedder=embedder,
        settings=changed(settings),
        limit=wish.plan.limit,
        off_topic=wish.plan.off_topic,
        callers=wish.plan.callers,
        seed=wish.seed,
        **versions(),
    )


def _known(before: Run | None, about: About, wish: Wish) -> Mapping[tuple[str, str], SetRun]:
    """Sets of an earlier run that this one would answer alike."""
    if before is None:
        return {}
    same = replace(before.about, command=about.command, at=about.at, machine=about.machine)
    if same != about:
        raise InvalidInput(
            "The run to go on from was made with other versions, settings or questions; leave --resume out."
        )
    return {
        (one.name, one.data_hash): one
        for one in before.sets
        if {(row.mode, row.floor) for row in one.rows if row.system == "loom"} == set(wish.plan.ways)
        and any(row.system == "oracle" for row in one.rows) == wish.oracle
    }


def _baseline(embedder: Embedder) -> Baseline:
    try:
        # An extra, and half a second to import.
        from loom_server.evaluation.oracle import Oracle  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(
            '--baseline oracle needs bm25s, which is not installed: pip install "loom-recall[eval]".'
        ) from error

    return lambda documents: Oracle(documents, embedder).ranks
