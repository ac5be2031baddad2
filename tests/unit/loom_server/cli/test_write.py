"""`loom set`: what is to be stored, before any store is opened."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from loom_server.cli.command import identity_command
from loom_server.cli.write import set_memory


def run(*arguments: str, stdin: bytes = b"", folder: Path) -> Result:
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(identity_command(set_memory))
    return CliRunner().invoke(app, [*arguments, "--data-dir", str(folder / "store")], input=stdin)


@pytest.mark.parametrize(
    ("arguments", "stdin", "told"),
    [
        (("k", "\udcff"), b"", "value: holds bytes that are not UTF-8; give it as UTF-8"),
        (("\udcff", "v"), b"", "key: holds bytes that are not UTF-8; give it as UTF-8"),
        (("k", "v", "--tag", "a", "--tag", "\udcff"), b"", "tag: holds bytes that are not UTF-8; give it as UTF-8"),
        (("k", "-"), b"caf\xe9", "value: stdin is not UTF-8 (byte 3); give it as UTF-8"),
        (("k", "9" * 20, "--parse"), b"", f"The whole number {'9' * 20} has more than 64 bits; send it as text."),
        (("k", "-", "--parse"), b"{", "value: is not JSON"),
        (("k", "v", "-f", f'metadata={{"n": {"9" * 20}}}'), b"", f"The whole number {'9' * 20} has more"),
    ],
)
def test_what_cannot_be_kept_as_it_is_given_is_wrong_usage(
    tmp_path: Path, arguments: tuple[str, ...], stdin: bytes, told: str
) -> None:
    result = run(*arguments, stdin=stdin, folder=tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Error: {told}")
    assert not (tmp_path / "store").exists()
