"""The closed sets of label values: all of them are known when this is imported.

A value from outside its set becomes `other`, so the number of series has a bound whatever callers send.
Statement names are listed here, since the statements stand on floors above; a test compares the list
with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from loom_client import wire
from loom_server import __version__
from loom_server.errors import Cancelled, DeadlineExceeded, LoomError
from loom_server.model.candidate import LegState
from loom_server.model.query import SearchMode
from loom_server.model.verdict import AbstainCode
from loom_server.settings import Settings

OTHER = "other"
UNEXPECTED = "unexpected"

MODES: tuple[str, ...] = get_args(SearchMode)
ABSTAINS: tuple[str, ...] = get_args(AbstainCode)
LEGS: tuple[str, ...] = wire.BUILT_LEGS
LEG_OUTCOMES: tuple[str, ...] = get_args(LegState)
SEARCH_OUTCOMES = ("answered", "abstained", "refused", "deadline", "cancelled", "failed")
WRITES = ("memory.set", "memory.set_many", "memory.update", "memory.delete")
WRITE_OUTCOMES = ("written", "unchanged", "partial", "refused", "deadline", "cancelled", "failed")
STATEMENT_OUTCOMES = ("ok", "deadline", "cancelled", "exhausted", "failed")
PROVIDERS: tuple[str, ...] = get_args(Settings.model_fields["embedder"].annotation)
ROLES = ("query", "passage")
EMBED_OUTCOMES = ("ok", "timeout", "unreachable", "limited", "failed", "denied", "refused", "junk")
CACHES = ("embed", "kept_rows", "statistics")
CACHE_RESULTS = ("hit", "miss")
OPERATIONS: tuple[str, ...] = tuple(wire.CONTRACTS)
DOORS = ("http", "rpc", "health", "metrics")
LANES: tuple[str, ...] = ("read", "write", "ops")
STAGES = ("embedder", "analysis", "store", "migrate", "sweep", "services")
CHANGES = ("dropped", "superseded", "lowered", "missing", "mended")
BACKENDS = ("embedded", "server")
VERSIONS = (__version__,)

TABLES = (
    "memory", "memory_embeddings", "postings", "token_df", "corpus_stats", "namespaces", "claims", "processes",
    "idempotency", "schema_migrations",
)  # fmt: skip
STATEMENTS = (
    *(f"insert.{table}" for table in TABLES),
    "claims.rivals",
    "doctor.engine",
    "doctor.models",
    "evidence.missing",
    "evidence.namespaces",
    "evidence.orphans",
    "evidence.raised",
    "evidence.recent",
    "evidence.stale",
    "evidence.versions",
    "health.schema",
    "health.store",
    "idempotency.find",
    "idempotency.known",
    "lacking.models",
    "lacking.namespaces",
    "lacking.rows",
    "lacking.versions",
    "leg.fact",
    "leg.fact.codes",
    "leg.postings.read",
    "leg.postings.score",
    "memory.by_key",
    "memory.count",
    "memory.count_all",
    "memory.history",
    "memory.list",
    "memory.list_all",
    "migrate",
    "migrate.read",
    "namespaces.newest",
    "neighbours.committed",
    "neighbours.ended",
    "neighbours.orphans",
    "neighbours.stale",
    "neighbours.unsettled",
    "process.fallen",
    "process.last",
    "process.last_id",
    "process.sharers",
    "process.tags",
    "recount.live",
    "recount.texts",
    "rollups.contents",
    "rollups.fact_corpus",
    "rollups.fact_tokens",
    "rollups.other_models",
    "rollups.stored_corpus",
    "rollups.stored_tokens",
    "search.cosines",
    "search.hydrate",
    "search.stale",
    "statistics.load",
    "statistics.tokens",
    "store.columns",
    "terms.sample",
    "terms.stored",
    "vectors.drop_others",
    "vectors.live_among",
    "vectors.lower",
    "vectors.missing",
    "vectors.others",
    "vectors.passages",
    "vectors.present",
    "vectors.raised",
    "versions.drop_memory_embeddings",
    "versions.drop_postings",
    "versions.lower_postings",
    "versions.lower_vectors",
    "versions.supersede",
    "write.committed",
    "write.counted",
    "write.embedded",
    "write.newest",
    "write.traits",
)


def tree(kind: type[LoomError]) -> Iterator[type[LoomError]]:
    """An error of the one tree and every kind of it."""
    yield kind
    for child in kind.__subclasses__():
        if child.__module__ == LoomError.__module__:
            yield from tree(child)


CODES: tuple[str, ...] = tuple(dict.fromkeys(kind.code for kind in tree(LoomError)))
"""Every code of the error tree."""

REASONS = (*CODES, UNEXPECTED)
STATUSES: tuple[str, ...] = tuple(sorted({"200", "204", *(str(kind.http_status) for kind in tree(LoomError))}))


def reason_of(told: str) -> str:
    """The reason code of a degraded part: `unexpected_<kind>` holds a kind that no set knows."""
    return UNEXPECTED if told.startswith(f"{UNEXPECTED}_") else told


def outcome_of(error: BaseException) -> str:
    """How a search or a write ended that raised `error`."""
    if isinstance(error, DeadlineExceeded):
        return "deadline"
    if isinstance(error, Cancelled):
        return "cancelled"
    return "refused" if isinstance(error, LoomError) and error.category == "request" else "failed"


def code_of(error: BaseException) -> str:
    """The code by which a log and a metric name an error."""
    return error.code if isinstance(error, LoomError) else LoomError.code
