"""A search's answer as tables for people: the hits, the verdict, and with explain the way there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from loom_client import wire
from loom_server.cli.screen import counted

EXCERPT_CHARS = 160
BAR_CELLS = 24
PARAGRAPH = "¶"
MARKS = {"t": "under the abstain threshold", "f": "under the floor"}


def answer(response: wire.MemorySearchResponse) -> Iterator[RenderableType]:
    """The hits and the verdict."""
    if response.results:
        yield hits_table(response.results, response.page_offset)
    yield verdict(response)
    if not response.results:
        yield Text(response.next, style="dim")
    for failure in response.degraded:
        yield Text(f"degraded  {failure}", style="yellow")


def hits_table(hits: Sequence[wire.Hit], offset: int = 0) -> Table:
    """One row a hit, after `offset` rows of earlier pages.

    A mark after the rank tells what it is under: `t` the threshold, `f` the floor.
    """
    table = _table()
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("key", overflow="fold", max_width=36)
    table.add_column("cosine", justify="right", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("excerpt", ratio=1)
    if any(hit.legs for hit in hits):
        table.add_column("found by", max_width=24)
    marks = [_mark(hit) for hit in hits]
    for rank, (hit, mark) in enumerate(zip(hits, marks, strict=True), offset + 1):
        found_by = [_legs(hit)] if hit.legs else []
        style = "dim" if mark else ""
        cells = (f"{rank}{mark}", hit.memory_key, f"{hit.similarity:.3f}", f"{hit.rank_score:.3f}", _excerpt(hit))
        table.add_row(*cells, *found_by, style=style)
    told = [f"{mark}: {meaning}" for mark, meaning in MARKS.items() if mark in marks]
    table.caption, table.caption_justify = ", ".join(told) or None, "left"
    return table


def verdict(response: wire.MemorySearchResponse) -> Text:
    """One line: answered or abstained, how sure, and why."""
    if response.abstain:
        return Text(f"abstained  {response.abstain_code}: {response.abstain_reason}", style="bold yellow")
    sure = f"confidence {response.retrieval_confidence:.2f}, risk {response.retrieval_risk}"
    return Text(f"answered  {sure}, mode {response.search_mode}", style="bold green")


def explanation(response: wire.MemorySearchResponse) -> Iterator[RenderableType]:
    """How the answer came about: the plan, the time, each hit's parts, the terms, the verdict."""
    yield Text("Plan", style="bold")
    yield Text(f"mode {response.search_mode}, model {response.embedding_model or 'none'}")
    yield Text(response.retrieval_plan)
    yield Text("Time", style="bold")
    yield stages_table(response.retrieval_work)
    if response.results:
        yield Text("Hits", style="bold")
        yield hits_table(response.results, response.page_offset)
        yield Text(response.score_explanation or "", style="dim")
        yield parts_table(response.results, response.page_offset)
    yield Text("Verdict", style="bold")
    yield verdict(response)
    yield Text(_evidence(response), style="dim")


def stages_table(work: wire.RetrievalWork) -> Table:
    """Milliseconds by stage, each as a bar against the longest."""
    table = _table()
    table.add_column("stage", no_wrap=True)
    table.add_column("ms", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    longest = max(work.ms.values(), default=0.0) or 1.0
    for stage, milliseconds in work.ms.items():
        table.add_row(stage, f"{milliseconds:.2f}", "█" * max(1, round(BAR_CELLS * milliseconds / longest)))
    table.caption = f"{counted(work.statements, 'statement')}, {counted(work.rows, 'row')}"
    table.caption_justify = "left"
    return table


def parts_table(hits: Sequence[wire.Hit], offset: int = 0) -> Table:
    """What each hit's score is made of, and which terms of the question it carries."""
    table = _table()
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("score components", ratio=2)
    table.add_column("matched terms", ratio=1)
    for rank, hit in enumerate(hits, offset + 1):
        parts = ", ".join(f"{name} {value:.4g}" for name, value in (hit.score_components or {}).items())
        terms = ", ".join(term.term for term in hit.matched_terms or ())
        table.add_row(str(rank), parts or "none", terms or "none")
    return table


def _evidence(response: wire.MemorySearchResponse) -> str:
    agreement = response.route_agreement
    routes = "one route ran" if agreement is None else f"vector and lexical top tens agree by {agreement:.2f}"
    lines = (
        f"{counted(response.candidates_total, 'candidate')}, {response.below_floor} under the floor; {routes}.",
        response.calibration_explanation,
        response.next,
    )
    return "\n".join(line for line in lines if line)


def _mark(hit: wire.Hit) -> str:
    return "f" if hit.below_floor else "t" if hit.below_threshold else ""


def _legs(hit: wire.Hit) -> str:
    return ", ".join(f"{name} #{leg.rank} {leg.score:.2f}" for name, leg in (hit.legs or {}).items())


def _excerpt(hit: wire.Hit) -> str:
    text = f" {PARAGRAPH} ".join(" ".join(part.split()) for part in hit.content_excerpt.split("\n\n") if part.strip())
    return text if len(text) <= EXCERPT_CHARS else f"{text[: EXCERPT_CHARS - 1]}…"


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", expand=False)
