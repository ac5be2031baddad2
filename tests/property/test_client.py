"""Any valid request, given as keyword arguments, arrives at the service as the same request."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loom_client import Client, UnexpectedAnswer, wire

TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20)
NAMES = st.from_regex(r"[a-z0-9_.:@/+#=~]{1,12}", fullmatch=True)
SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
JSON = st.recursive(
    SCALARS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
TIMES = st.datetimes(datetime(1902, 1, 1), datetime(2297, 1, 1), timezones=st.just(UTC))
IDENTITY = {name: NAMES for name in ("org", "namespace", "agent", "user_id", "session_id", "run_id")}
LABELS = st.lists(TEXTS, max_size=3)
SET = st.fixed_dictionaries(
    {"memory_key": TEXTS, "value": JSON},
    optional={
        **IDENTITY, "tags": LABELS, "metadata": st.dictionaries(TEXTS, JSON, max_size=3), "valid_at": TIMES,
        "confidence": st.floats(0, 1), "ttl_seconds": st.none() | st.integers(1, 10**6),
        "memory_type": st.sampled_from(["fact", "episode"]), "canonical": st.none() | TEXTS,
    },
)  # fmt: skip
SEARCH = st.fixed_dictionaries(
    {"query": TEXTS},
    optional={
        **IDENTITY, "search_mode": st.sampled_from(["rrf", "hybrid"]), "top_k": st.integers(1, 1000),
        "tags_all": LABELS, "candidates": st.dictionaries(st.sampled_from(["fact", "bm25"]), st.integers(1, 1000)),
        "created_after": TIMES, "alpha": st.floats(0, 1), "exclude_keys": LABELS, "explain": st.none() | st.booleans(),
        "source_class": st.sampled_from(["observed", ["asserted", "imported"]]), "timeout_ms": st.integers(1, 600_000),
    },
)  # fmt: skip
LIST = st.fixed_dictionaries({}, optional={**IDENTITY, "prefix": TEXTS, "limit": st.integers(1, 1000)})


def arrived(name: str, fields: dict[str, Any]) -> tuple[str, wire.Request]:
    """The path and the request that the service reads from the client's bytes."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, text="no answer")

    with Client(transport=httpx.MockTransport(answer)) as loom:
        family, _, short = name.partition(".")
        with pytest.raises(UnexpectedAnswer):
            getattr(getattr(loom, family), short)(**fields)
    return seen[0].url.path, wire.CONTRACTS[name].request.model_validate_json(seen[0].content)


@settings(max_examples=120, deadline=None)
@given(
    st.tuples(st.just("memory.set"), SET) | st.tuples(st.just("memory.search"), SEARCH)
    | st.tuples(st.just("memory.list"), LIST)
)  # fmt: skip
def test_a_request_arrives_as_it_was_meant(call: tuple[str, dict[str, Any]]) -> None:
    name, fields = call
    path, request = arrived(name, fields)
    meant = wire.CONTRACTS[name].request.model_validate(fields)
    assert path == f"/v1/{name}"
    assert request == meant
    assert request.model_fields_set == meant.model_fields_set == fields.keys()
