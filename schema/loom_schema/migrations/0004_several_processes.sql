-- Several processes may write to one server. Each that starts takes the next number, says now and then that it is
-- there, and says when it leaves; the newest row of a number counts (server/loom_server/store/process.py).
CREATE TABLE IF NOT EXISTS loom.processes
(
    number UInt64,
    owner String,
    state LowCardinality(String),
    at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(at)
ORDER BY (number, owner)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- Who may write the next version of a key (server/loom_server/store/claims.py). A claim is void once it is
-- withdrawn, or `seconds` after it was made.
CREATE TABLE IF NOT EXISTS loom.claims
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    agent String,
    user_id String,
    session_id String,
    memory_key String,
    version UInt64,
    claimant UInt64,
    withdrawn UInt8,
    seconds UInt32,
    at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = MergeTree
ORDER BY (org, namespace, agent, user_id, session_id, memory_key, version, claimant)
TTL toDateTime(at) + INTERVAL 1 DAY
SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;
