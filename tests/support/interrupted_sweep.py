"""One start of a service that dies after it acknowledged, is stopped in its sweep, or looks at what is left.

python interrupted_sweep.py DIRECTORY crash | interrupted | look
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from loom_client import wire
from loom_server.model.deadline import Deadline
from loom_server.service import open as opening
from loom_server.settings import Settings

ROWS = 3


def crash(settings: Settings) -> None:
    services = opening.open_services(settings)
    for number in range(ROWS):
        request = wire.MemorySetRequest(memory_key=f"k{number}", value=f"fox number {number}")
        services.set(request, Deadline(30))
    print(json.dumps({"acknowledged": ROWS}), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def interrupted(settings: Settings) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    opening.sweep = stopped  # as Ctrl-C, a statement's time-out or its memory cap would stop it
    try:
        opening.open_services(settings)
    except KeyboardInterrupt:
        print(json.dumps({"stopped": True}), flush=True)


def look(settings: Settings) -> None:
    services = opening.open_services(settings)
    answer = services.search(wire.MemorySearchRequest(query="fox number", search_mode="lexical"), Deadline(30))
    print(json.dumps({"found": sorted(hit.memory_key for hit in answer.results)}), flush=True)
    services.close()


if __name__ == "__main__":
    {"crash": crash, "interrupted": interrupted, "look": look}[sys.argv[2]](
        Settings(data_dir=Path(sys.argv[1]), embedder="hash")
    )
