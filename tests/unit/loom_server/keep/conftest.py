"""Tests here damage the store that all tests of the process share; each takes its org away again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loom_server.keep.evidence import namespaces
from loom_server.model.scope import Scope
from loom_server.store.embedded import EmbeddedStore
from loom_server.store.rollups import Tokenizer, mend
from loom_server.store.statement import IDENTITY_TABLES
from writing import HASH, damage


@pytest.fixture(autouse=True)
def tidy(store: EmbeddedStore, org: str) -> Iterator[None]:
    """Remove the rows of the test's org, and of those whose names begin with it."""
    yield
    touched = [(one, name) for one, name in namespaces(store) if one.startswith(org)]
    for table in IDENTITY_TABLES:
        damage(store, f"DELETE FROM loom.{table} WHERE startsWith(org, {{org:String}})", org=org)
    for one, name in touched:
        mend(store, Scope(one, name), Tokenizer(HASH.identity.name, HASH.tokens))
