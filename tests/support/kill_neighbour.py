"""One of several processes on a server, which may die: `python kill_neighbour.py URL ORG [STATEMENT OCCURRENCE WHEN]`.

It does a cycle of writes through a real server store and kills itself before or after the named statement; without one
it prints the statements as a JSON list and ends without leaving, as a process that dies of something else does.
"""

from __future__ import annotations

import json
import sys

from pydantic import SecretStr

from kill_writer import DeadlyStore, die
from loom_server.ingest.memory import MemoryWriter
from loom_server.model.clock import SystemClock
from loom_server.settings import Settings
from loom_server.store.namespaces import Namespaces
from loom_server.store.process import Process
from loom_server.store.server import ServerStore
from loom_server.store.statistics import Statistics
from writing import HASH, a_draft, a_key, delete, settle, write


def main(url: str, org: str, name: str = "", occurrence: str = "0", when: str = "") -> None:
    def fatal(asked: str, number: int, seen: int, after: bool) -> bool:
        return (asked, seen, after) == (name, int(occurrence), when == "after")

    real = ServerStore(SecretStr(url), clients=5)
    store = DeadlyStore(real, fatal, armed=False)
    clock = SystemClock()
    process = Process.join(store, clock, 30.0)
    writer = MemoryWriter(store, HASH, Statistics(store), clock, Settings(), Namespaces(store, process))
    write(writer, a_draft(org, "a"), a_draft(org, "b"))
    settle(writer)
    store.armed = True
    write(writer, a_draft(org, "a", text="a blue hen"), a_draft(org, "c"))
    delete(writer, a_key(org, "b"))
    settle(writer)
    print(json.dumps(store.asked), flush=True)
    die()


if __name__ == "__main__":
    main(*sys.argv[1:])
