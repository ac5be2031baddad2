"""A second process with a store of its own: `python store_process.py DIRECTORY [PUBLISHED_ADDRESS]`.

It opens the store, prints one JSON line (`{"open": was_clean}` or `{"refused": code, "message": …}`),
then obeys words on its standard input, one a line, answering each with one JSON line:

    fill N     insert N rows            {"rows": rows there are}, or {"refused": code, "message": …}
    break      try a write that fails   {"broken": code}
    other DIR  open a second directory  {"refused": code, "message": …}
    close      close the store and end  {"closed": true}
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from loom_server.errors import LoomError
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.migrate import migrate
from loom_server.store.store import Insert, Statement


class StoreProcess:
    """The parent's hand on such a process."""

    def __init__(self, directory: Path, address: str = "") -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(directory), address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid
        self.opened = self._answer()

    def tell(self, words: str) -> dict[str, Any]:
        """Send one line and read the answer."""
        assert self._process.stdin
        self._process.stdin.write(words + "\n")
        self._process.stdin.flush()
        return self._answer()

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._end()

    def close(self) -> None:
        """A clean close."""
        self.tell("close")
        self._end()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout
        return json.loads(self._process.stdout.readline())

    def _end(self) -> None:
        self._process.wait(timeout=60)
        for stream in (self._process.stdin, self._process.stdout):
            assert stream
            stream.close()

    def __enter__(self) -> StoreProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.kill()


def _refused(error: LoomError) -> dict[str, object]:
    return {"refused": error.code, "message": error.message}


def _rows(number: int) -> Insert:
    columns = ("org", "namespace", "plane", "token", "df", "cf")
    tokens = [f"t{index}" for index in range(number)]
    return Insert(
        "token_df",
        columns,
        (["o"] * number, ["n"] * number, ["fact"] * number, tokens, [1] * number, [1] * number),
    )


def _obey(store: EmbeddedStore, word: str, argument: str) -> dict[str, object]:
    match word:
        case "fill":
            try:
                store.insert(_rows(int(argument)))
            except LoomError as error:
                return _refused(error)
            columns = store.query(Statement("count", "SELECT sum(df) AS n FROM loom.token_df"))
            return {"rows": columns.column("n")[0]}
        case "settle":
            store.settle()
            return {"settled": True}
        case "break":
            try:
                store.command(Statement("broken", "UPDATE loom.token_df SET nothing = 1 WHERE org = 'o'"))
            except LoomError as error:
                return {"broken": error.code}
        case "other":
            try:
                EmbeddedStore(Path(argument))
            except LoomError as error:
                return _refused(error)
        case _:
            store.close()
    return {"closed": True}


def _say(answer: dict[str, object]) -> None:
    print(json.dumps(answer), flush=True)


def _main(directory: str, address: str) -> None:
    try:
        store = EmbeddedStore(Path(directory), clients=2)
    except LoomError as error:
        _say(_refused(error))
        return
    migrate(store)
    if address:
        store.publish_address(address)
    _say({"open": store.was_clean})
    for line in sys.stdin:
        word, _, argument = line.strip().partition(" ")
        _say(_obey(store, word, argument))
        if word == "close":
            return


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2])
