"""The page of errors has one row for each code of the tree, with the status and the code that doors send."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from loom_server.cli import command
from loom_server.cli.command import Shell
from loom_server.errors import ConfigError, InvalidInput, LoomError, NotFound, TooLarge
from pages import rows, section, text_of

PAGE = text_of("errors.md")


def tree(kind: type[LoomError] = LoomError) -> Iterator[type[LoomError]]:
    """Every class of the tree that has a code of its own."""
    if "code" in vars(kind):
        yield kind
    for child in kind.__subclasses__():
        if child.__module__ == LoomError.__module__:
            yield from tree(child)


def told() -> list[tuple[str, ...]]:
    """Code, HTTP status, JSON-RPC code, whether to retry, as the page's table says."""
    start = PAGE.split("## ")[0]
    return [(row[0].strip("`"), *row[1:4]) for row in rows(start)]


def test_every_error_has_one_row_and_no_row_is_stale() -> None:
    true = [
        (kind.code, str(kind.http_status), str(kind.rpc_code), "yes" if kind.retryable else "no") for kind in tree()
    ]
    assert sorted(told()) == sorted(true)


def test_codes_tell_kinds_apart() -> None:
    codes = [kind.code for kind in tree()]
    assert len(codes) == len(set(codes)) > 20


def test_degraded_entries_name_reasons_that_exist() -> None:
    entries = [row[0] for row in rows(section(PAGE, "Degraded answers"))]
    codes = {kind.code for kind in tree()} | {"…"}
    parts = [entry for row in entries for entry in re.findall(r"`(\w+): ([^`]+)`", row)]
    assert {stage for stage, _ in parts} == {"fact", "lexical", "bm25", "embed"}
    assert {reason for _, reason in parts} <= codes


@pytest.mark.parametrize(
    ("error", "code"),
    [(ConfigError("x"), 2), (InvalidInput("x"), 2), (TooLarge("x"), 2), (NotFound("x"), 1), (LoomError("x"), 1)],
)
def test_the_shell_ends_with_the_codes_that_the_page_states(error: LoomError, code: int) -> None:
    def failing(shell: Shell) -> int:
        raise error

    assert "Its exit code is 2 for `config_error`" in " ".join(section(PAGE, "The shell").split())
    with pytest.raises(command.typer.Exit) as ended:
        command.command(failing)(as_json=False, data_dir=None)
    assert ended.value.exit_code == code
