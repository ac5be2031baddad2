"""`loom demo`: load this project's docs and a team's memories, search them four times, then serve.

It has a data directory of its own, `.loom/demo`, so it never meets your memories. A second run
finds everything stored and shows the same.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from loom_client import wire
from loom_server.cli import draw
from loom_server.cli.command import DONE, FAILED, Shell, settings_of
from loom_server.cli.demo.questions import NAMESPACE, QUESTIONS, Shown
from loom_server.cli.door import Door, LocalServices
from loom_server.cli.ingest import faults, load, summary
from loom_server.cli.questions import Choices, Question
from loom_server.cli.screen import Screen
from loom_server.cli.serve import Start, serve_until_stopped
from loom_server.ingest.files.entry import Owner
from loom_server.settings import Settings

DEMO_DIR = Path(".loom/demo")
DOCS_NAMESPACE = "docs"
SAMPLE = "team.jsonl"
SHOWN_HITS = 3

Once = Annotated[bool, typer.Option("--once", help="End after the searches instead of serving.")]
Port = Annotated[int | None, typer.Option("--port", "-p", help="Port to serve on; else LOOM_PORT, else 7777.")]


def demo(shell: Shell, once: Once = False, port: Port = None) -> int:
    """Load a sample, show four searches with their explanations, then serve it."""
    settings = settings_of(_directory(shell), port=port)
    with ExitStack() as open_until:
        start = Start.of(settings)
        services = start.open(settings)
        open_until.callback(services.close)
        outcomes = _tell(Door(LocalServices(services, settings)), shell.screen)
        if not once:
            open_until.pop_all()  # the server closes what it serves
            told = partial(_serving, settings=settings, screen=shell.screen)
            serve_until_stopped(settings, lambda: services, told, start)
    return DONE if all(one["as_expected"] for one in outcomes) else FAILED


def docs_folder() -> Path | None:
    """The project's `docs/`, where this runs from a checkout; an installed wheel has none."""
    root = Path(__file__).resolve().parents[4]
    return root / "docs" if (root / "pyproject.toml").exists() and (root / "docs").is_dir() else None


def _directory(shell: Shell) -> Path:
    """`--data-dir` or `LOOM_DATA_DIR` where one is given, else `.loom/demo`, else a temporary directory."""
    if "data_dir" in shell.settings.model_fields_set:
        return shell.settings.data_dir / "demo"
    try:
        DEMO_DIR.mkdir(parents=True, exist_ok=True)
    except OSError:
        usable = False
    else:
        usable = os.access(DEMO_DIR, os.W_OK)
    if usable:
        return DEMO_DIR
    temporary = Path(tempfile.mkdtemp(prefix="loom-demo-"))
    shell.screen.say(f"{DEMO_DIR} cannot be written here; the demo keeps its store in {temporary}.")
    return temporary


def _tell(door: Door, screen: Screen) -> list[dict[str, object]]:
    """Load the sample and ask the questions; what came of each."""
    _load(door, screen)
    told = [_show(number, shown, door, screen) for number, shown in enumerate(QUESTIONS, start=1)]
    if screen.as_json:
        screen.data(told)
    return told


def _load(door: Door, screen: Screen) -> None:
    docs = docs_folder()
    if docs is None:
        screen.say("The docs are not part of an installed package; only the sample is loaded.")
    else:
        _load_path(docs, Owner(namespace=DOCS_NAMESPACE), door, screen)
    with as_file(files("loom_server.cli.demo") / SAMPLE) as sample:
        _load_path(sample, Owner(), door, screen)


def _load_path(path: Path, owner: Owner, door: Door, screen: Screen) -> None:
    report = load(path, door, owner, screen)
    screen.say(f"Loaded {summary(path.name, report)}")
    for line in faults(report):
        screen.say(line)


def _show(number: int, shown: Shown, door: Door, screen: Screen) -> dict[str, object]:
    """Ask one question and draw its answer; what came of it, for `--json`."""
    question = Question(shown.query, Choices(top_k=SHOWN_HITS), explain=True)
    response = door.search(question.request({"namespace": NAMESPACE}))
    screen.show("", Text(f"{number}. {shown.title}: {shown.query}", style="bold"), Text(shown.shows, style="italic"))
    screen.show(*draw.explanation(response))
    expected = _as_expected(shown, response)
    if not expected:
        screen.say(f"Expected {shown.first or 'an abstain'} here; `loom doctor` checks the store.", "red")
    return {"question": shown.query, "shows": shown.shows, "as_expected": expected, "answer": response.plain()}


def _as_expected(shown: Shown, response: wire.MemorySearchResponse) -> bool:
    if shown.first is None:
        return response.abstain
    return not response.abstain and response.results[0].memory_key == shown.first


def _serving(address: str, settings: Settings, screen: Screen) -> None:
    body = f'{{"query": "{QUESTIONS[0].query}", "namespace": "{NAMESPACE}"}}'
    screen.show(
        "",
        Text(f"Serving {settings.data_dir} until Ctrl-C.", style="bold"),
        f"Health   {address}/v1/health",
        f"Search   curl -s {address}/v1/memory.search -H 'Content-Type: application/json' -d '{body}'",
    )
