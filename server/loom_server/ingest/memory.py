"""Writing memories: `write` drafts, `delete` keys; one answer for each, in order.

An answer is given when the engine has everything on disk and the very next search sees it. What goes
wrong with one draft (a lost `if_match_sha256`, a store that fails, time that runs out) is the answer of
that draft and of those that were committed with it; the others go on.

The caller's thread analyses and embeds, the one writer's thread commits (`writer.py`, `commit.py`). A
large batch goes in parts, so that the next part is prepared while the engine takes the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from loom_server.analysis.analyse import language_code
from loom_server.embed.base import Embedder
from loom_server.errors import LoomError
from loom_server.ingest.commit import Committer, Ended, forget_nothing
from loom_server.ingest.debts import Debts
from loom_server.ingest.judge import Answer
from loom_server.ingest.request import Removal, Request, prepare
from loom_server.ingest.writer import GroupWriter, await_answers
from loom_server.model.clock import Clock
from loom_server.model.deadline import Deadline
from loom_server.model.memory import Draft, Key
from loom_server.settings import Settings
from loom_server.store.namespaces import Namespaces
from loom_server.store.process import Process
from loom_server.store.rollups import Tokenizer
from loom_server.store.statistics import Statistics
from loom_server.store.store import Store

T = TypeVar("T")
Promise = Future[tuple[Answer, ...]]
PART_ROWS = 250
"""Drafts that are prepared and queued at once."""
PART_CHARACTERS = 1_000_000
STATEMENTS_AT_ONCE = 3
"""Beside the writer's own."""


class MemoryWriter:
    """Writes for one process; safe from many threads. The store must be migrated and swept."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        statistics: Statistics,
        clock: Clock,
        settings: Settings,
        namespaces: Namespaces | None = None,
        ended: Ended = forget_nothing,
    ) -> None:
        """`ended` is told the ids of versions that a write has ended, before the writer is answered."""
        self._embedder = embedder
        self._namespaces = namespaces or Namespaces(store, Process.alone(store, clock))
        self._executor = ThreadPoolExecutor(STATEMENTS_AT_ONCE, thread_name_prefix="loom-write")
        debts = Debts(store, statistics, Tokenizer(embedder.identity.name, embedder.tokens), self._executor)
        process = self._namespaces.process
        committer = Committer(store, embedder, self._namespaces, clock, process, debts, self._executor, ended)
        self._part_rows = min(PART_ROWS, settings.write_batch_rows)
        self._writer = GroupWriter(committer, settings.write_batch_rows)

    @property
    def queued(self) -> int:
        """Writes that wait for their group."""
        return self._writer.queued

    def observe(self, committed: Callable[[int], None]) -> None:
        """Tell `committed` the size of each group from now on."""
        self._writer.committed = committed

    def write(self, drafts: Sequence[Draft], deadline: Deadline, language: str = "en") -> tuple[Answer, ...]:
        """Store the drafts. Raises `InvalidInput` for a language that is unknown, before anything is written."""
        code = language_code(language)

        def prepared(part: Sequence[Draft]) -> Sequence[Request]:
            return prepare(part, self._embedder, self._namespaces.model_of, code, deadline)

        return self._write(_parts(drafts, self._part_rows), prepared, deadline)

    def delete(self, keys: Sequence[Key], deadline: Deadline) -> tuple[Answer, ...]:
        """End the keys with a tombstone. A key without a live value is answered with `NotFound`."""
        parts = (keys[start : start + self._part_rows] for start in range(0, len(keys), self._part_rows))
        return self._write(parts, lambda part: [Removal(key) for key in part], deadline)

    def between_groups(self, work: Callable[[], T], deadline: Deadline) -> T:
        """Do `work`, such as a check, while nothing is being written and nothing is owed; raises what it raises."""
        return self._writer.between(work, deadline)

    def close(self) -> bool:
        """Write what is queued, then stop; later writes are refused as `NotReady`.

        Answers whether everything was settled; where not, the next start must sweep.
        """
        settled = self._writer.close()
        self._executor.shutdown()
        return settled

    def _write(
        self, parts: Iterable[Sequence[T]], requests: Callable[[Sequence[T]], Sequence[Request]], deadline: Deadline
    ) -> tuple[Answer, ...]:
        """Queue every part, then gather the answers; an error of a part answers each of its items."""
        promises: list[tuple[int, Promise | LoomError]] = []
        for part in parts:
            try:
                # Preparing may take seconds, for which nobody waits any more once the time is over.
                deadline.check()
                promises.append((len(part), self._writer.submit(requests(part), deadline)))
            except LoomError as error:
                promises.append((len(part), error))
        return tuple(answer for size, promise in promises for answer in _answers(size, promise, deadline))


def _answers(size: int, promise: Promise | LoomError, deadline: Deadline) -> Sequence[Answer]:
    if isinstance(promise, LoomError):
        return [promise] * size
    try:
        return await_answers(promise, deadline)
    except LoomError as error:
        return [error] * size


def _parts(drafts: Sequence[Draft], most_rows: int) -> Iterator[Sequence[Draft]]:
    """The drafts in their order, in parts bounded by number and by length of content."""
    start = characters = 0
    for index, draft in enumerate(drafts):
        characters += len(draft.content)
        if index > start and (index - start >= most_rows or characters > PART_CHARACTERS):
            yield drafts[start:index]
            start, characters = index, len(draft.content)
    if drafts:
        yield drafts[start:]
