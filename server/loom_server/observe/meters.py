"""Every metric: its name, kind, labels with their closed sets, buckets and meaning.

    series of a metric <= product of (values of a label + 1)

The `+ 1` is `other`. Units are base units; durations fall into buckets from 1 ms to 10 s. The table in the
docs is made from `METERS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from loom_server.observe import labels

Kind = Literal["counter", "gauge", "histogram"]

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
ROWS = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
GROUP = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2000.0, 4000.0)
SHARE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Meter:
    """One metric. `labels` gives each label its known values; a histogram has `buckets`."""

    name: str
    kind: Kind
    about: str
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    buckets: tuple[float, ...] = ()


METERS = (
    Meter(
        "loom_search_duration_seconds",
        "histogram",
        "Time of a search, from its validated request to its answer.",
        {"mode": labels.MODES, "outcome": labels.SEARCH_OUTCOMES},
        SECONDS,
    ),
    Meter(
        "loom_search_total",
        "counter",
        "Searches. The mode is other where a search ended before it was planned.",
        {"mode": labels.MODES, "outcome": labels.SEARCH_OUTCOMES},
    ),
    Meter(
        "loom_leg_duration_seconds",
        "histogram",
        "Time of a leg; legs that share a statement share its time.",
        {"leg": labels.LEGS, "outcome": labels.LEG_OUTCOMES},
        SECONDS,
    ),
    Meter("loom_leg_candidates", "histogram", "Candidates that a leg brought.", {"leg": labels.LEGS}, ROWS),
    Meter(
        "loom_leg_degraded_total",
        "counter",
        "Searches that went on without a leg, by the reason.",
        {"leg": labels.LEGS, "reason": labels.REASONS},
    ),
    Meter("loom_pool_size", "histogram", "Candidates of a search after pooling.", buckets=ROWS),
    Meter("loom_abstain_total", "counter", "Searches that abstained, by the code.", {"code": labels.ABSTAINS}),
    Meter("loom_top_similarity", "histogram", "Best cosine of a search's window.", buckets=SHARE),
    Meter(
        "loom_write_duration_seconds",
        "histogram",
        "Time of a write operation until it is on disk.",
        {"operation": labels.WRITES, "outcome": labels.WRITE_OUTCOMES},
        SECONDS,
    ),
    Meter(
        "loom_write_total",
        "counter",
        "Write operations. Partial: some items of a batch were refused.",
        {"operation": labels.WRITES, "outcome": labels.WRITE_OUTCOMES},
    ),
    Meter("loom_write_group_rows", "histogram", "Writes that were committed as one group.", buckets=GROUP),
    Meter("loom_write_queue_rows", "gauge", "Writes that wait for their group."),
    Meter(
        "loom_clickhouse_query_duration_seconds",
        "histogram",
        "Time of a statement, waiting for a client included.",
        {"statement": labels.STATEMENTS, "outcome": labels.STATEMENT_OUTCOMES},
        SECONDS,
    ),
    Meter("loom_clickhouse_pool_in_use", "gauge", "Clients of the store that run a statement."),
    Meter(
        "loom_embed_duration_seconds",
        "histogram",
        "Time of the embedder for what its cache did not hold.",
        {"provider": labels.PROVIDERS, "role": labels.ROLES},
        SECONDS,
    ),
    Meter(
        "loom_embed_errors_total",
        "counter",
        "Failures of the embedder.",
        {"provider": labels.PROVIDERS, "role": labels.ROLES, "reason": labels.REASONS},
    ),
    Meter(
        "loom_embed_requests_total",
        "counter",
        "Requests to a remote embedder, each attempt counted, by how they ended.",
        {"provider": labels.PROVIDERS, "outcome": labels.EMBED_OUTCOMES},
    ),
    Meter(
        "loom_embed_left_alone",
        "gauge",
        "1 while a remote embedder that keeps failing is not asked, else 0.",
        {"provider": labels.PROVIDERS},
    ),
    Meter(
        "loom_cache_requests_total",
        "counter",
        "Look-ups: vectors, rows, and the statistics of namespaces.",
        {"cache": labels.CACHES, "result": labels.CACHE_RESULTS},
    ),
    Meter(
        "loom_requests_total",
        "counter",
        "Answers. Each call of a JSON-RPC batch counts, with the status that HTTP would have had.",
        {"door": labels.DOORS, "operation": labels.OPERATIONS, "status": labels.STATUSES},
    ),
    Meter("loom_requests_running", "gauge", "Calls that hold a thread.", {"lane": labels.LANES}),
    Meter("loom_requests_waiting", "gauge", "Calls that wait for a thread.", {"lane": labels.LANES}),
    Meter(
        "loom_requests_turned_away_total",
        "counter",
        "Calls that were refused as rate_limited, since their lane was full.",
        {"lane": labels.LANES},
    ),
    Meter(
        "loom_sweep_versions_total",
        "counter",
        "What the sweep at a start found after an unclean stop; mended are namespaces, the others versions.",
        {"change": labels.CHANGES},
    ),
    Meter("loom_reembed_rows_total", "counter", "Rows that a re-embedding gave a vector of the live model."),
    Meter("loom_reembed_rows_left", "gauge", "Rows that the running re-embedding has still to do; 0 where none runs."),
    Meter("loom_start_stage_seconds", "gauge", "Time of each stage of the start.", {"stage": labels.STAGES}),
    Meter("loom_uptime_seconds", "gauge", "Time since the services were opened."),
    Meter(
        "loom_build_info",
        "gauge",
        "Always 1.",
        {"version": labels.VERSIONS, "backend": labels.BACKENDS},
    ),
)
