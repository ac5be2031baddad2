"""Are stored terms those that the analyzer of this version makes? A sample of live rows is analysed again.

Writes and queries must cut texts alike, or words stop matching in silence. The sample is spread over all
tenants by a hash of the row id, the same rows each time; rows written since a change of the analyzer
agree, so a mixed store shows as a share that differs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import cast

from loom_server.analysis.analyse import index_tokens
from loom_server.store.named import NamedTemplate, Row
from loom_server.store.namespaces import Namespaces
from loom_server.store.store import Statement, Store

SAMPLE_ROWS = 200
DEFAULT_LANGUAGE = "en"

_SAMPLE = """
SELECT org, namespace, id, memory_key, content
FROM loom.memory
WHERE status = 'live'
ORDER BY cityHash64(id)
LIMIT {limit:UInt32}
"""
_STORED = NamedTemplate(
    "terms.stored",
    "SELECT id, token, tf FROM loom.postings WHERE /*rows*/ AND plane = 'fact' AND live = 1 AND token != ''",
)


@dataclass(frozen=True, slots=True)
class TermsReport:
    """How many rows were analysed again, and how many came out otherwise."""

    looked_at: int
    differing: int


def check_terms(store: Store, sample: int = SAMPLE_ROWS) -> TermsReport:
    """Analyse a sample of all tenants' live rows again. Raises a `StoreError` where the store fails."""
    rows = store.query(Statement("terms.sample", _SAMPLE, {"limit": sample})).rows()
    if not rows:
        return TermsReport(0, 0)
    names = [Row(*cast("tuple[str, str, int]", row[:3])) for row in rows]
    stored = _stored(store, names)
    namespaces = Namespaces(store)
    differing = 0
    for name, row in zip(names, rows, strict=True):
        language = str(namespaces.preferences(name.org, name.namespace).get("language", DEFAULT_LANGUAGE))
        made = index_tokens(str(row[4]), str(row[3]), language)
        differing += dict(made.counts) != stored[name.id]
    return TermsReport(len(rows), differing)


def _stored(store: Store, names: list[Row]) -> dict[int, dict[str, int]]:
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    for number, token, repeats in cast("list[tuple[int, str, int]]", store.query(_STORED.rows(names)).rows()):
        counts[number][token] = repeats
    return counts
