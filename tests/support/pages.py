"""Reading the pages of the docs: headings, links, code blocks, numbers, and the calls shown as examples.

An example is a line with the call, a block with what is sent, and a block with the answer:

    `POST /v1/memory.get`    ```json … ```    Answer, in part:    ```json … ```

"in part" leaves members out; a status other than 200 follows the word ("Answer 422:"); `…` stands for any value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from reference import DOCS, ROOT, pages

ANY = "…"
CLOSE = 1e-3

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")
_CODE = re.compile(r"`[^`\n]*`")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w.]*\w)")
_EXAMPLE = re.compile(
    r"^`POST (\S+)`\n\n```json\n(.*?)^```\n\nAnswer(?: (\d{3}))?(, in part)?:\n\n```json\n(.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Example:
    """A call and the answer that the page promises."""

    path: str
    sent: Any
    status: int
    partial: bool
    answer: Any


def every_page() -> list[Path]:
    """The pages of the docs and those at the root."""
    return [*sorted(ROOT.glob("*.md")), *pages()]


def named(page: Path) -> str:
    """The page's path from the root, to name a test by."""
    return page.relative_to(ROOT).as_posix()


def every_command(app: typer.Typer) -> dict[str, Any]:
    """The commands of the shell by their names; one of a group by both words."""
    found: dict[str, Any] = {}
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        found |= {name: command} if inner is None else {f"{name} {one}": part for one, part in inner.items()}
    return found


def text_of(name: str) -> str:
    """A page of the docs."""
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """The code blocks of a language; "" for those without one."""
    return [body for kind, body in _FENCE.findall(text) if kind == language]


def links(text: str) -> list[str]:
    """Targets of the links that do not leave the project."""
    return _LINK.findall(_FENCE.sub("", text))


def anchors(text: str) -> set[str]:
    """What a link may name after `#`: headings as GitHub writes them."""
    heads = _HEADING.findall(_FENCE.sub("", text))
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def section(text: str, heading: str) -> str:
    """A page's part from a heading of the second level to the next one."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found, f"no section {heading}"
    return found[1]


def rows(text: str) -> Iterator[list[str]]:
    """The cells of the rows of all tables, heads left out."""
    for line in re.findall(r"^\| (.+) \|$", re.sub(r"^\|.*\n\|[-|]+$", "", text, flags=re.MULTILINE), re.MULTILINE):
        yield line.split(" | ")


def numbers(text: str) -> set[str]:
    """The numbers that a page states outside code, as written, without thousands' commas."""
    prose = _LINK.sub("]", _CODE.sub("", _FENCE.sub("", text)))
    return {found.replace(",", "").rstrip(".") for found in _NUMBER.findall(prose)}


def examples(text: str) -> list[Example]:
    """The calls of a page, in order."""
    return [
        Example(path, json.loads(sent), int(status or 200), bool(part), json.loads(answer))
        for path, sent, status, part, answer in _EXAMPLE.findall(text)
    ]


def differences(shown: Any, real: Any, partial: bool, at: str = "") -> Iterator[str]:
    """Where a shown answer is not the real one."""
    if shown == ANY:
        return
    if isinstance(shown, dict) and isinstance(real, dict):
        yield from _member_differences(shown, real, partial, at)
    elif isinstance(shown, list) and isinstance(real, list) and len(shown) == len(real):
        for place, (one, other) in enumerate(zip(shown, real, strict=True)):
            yield from differences(one, other, partial, f"{at}.{place}")
    elif isinstance(shown, float) and isinstance(real, int | float) and abs(shown - real) < CLOSE:
        return
    elif shown != real or type(shown) is not type(real):
        yield f"{at}: shown {shown!r}, answered {real!r}"


def _member_differences(shown: Mapping[str, Any], real: Mapping[str, Any], partial: bool, at: str) -> Iterator[str]:
    if lacking := shown.keys() - real.keys():
        yield f"{at}: not in the answer: {sorted(lacking)}"
    if not partial and (unshown := real.keys() - shown.keys()):
        yield f"{at}: not shown: {sorted(unshown)}"
    for name in shown.keys() & real.keys():
        yield from differences(shown[name], real[name], partial, f"{at}.{name}")
