"""A service whose searches wait at a gate: `python gated_server.py DIRECTORY [HELD]`, its settings in the environment.

HELD is how the names of other statements begin that are to wait instead.

It prints its address once it can be used. A line on its standard input opens the gate.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from gated import GatedStore
from loom_server.cli.serve import Start, serve_until_stopped
from loom_server.embed.choose import make_embedder
from loom_server.service.open import assemble
from loom_server.service.services import Services
from loom_server.settings import Settings
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.migrate import migrate


def main(directory: Path, held: str = "leg.") -> None:
    """Serve until a signal."""
    settings = Settings(data_dir=directory, embedder="hash")
    start = Start.of(settings)

    def build() -> Services:
        store = EmbeddedStore.open(settings)
        migrate(store)
        gated = GatedStore(store, (held,))

        def wait_for_a_line() -> None:
            sys.stdin.readline()
            gated.gate.set()

        threading.Thread(target=wait_for_a_line, daemon=True).start()
        return assemble(gated, make_embedder(settings), settings, metrics=start.metrics)

    serve_until_stopped(settings, build, lambda address: print(address, flush=True), start)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
