-- Answers of writes that their callers named by an Idempotency-Key, for a day (server/loom_server/store/idempotency.py).
-- `key` and `request` are SHA-256 as hex. An answer that was too large is not `whole`, and empty. A key belongs to its
-- whole org, whose rows stand under the namespace '-'.
CREATE TABLE IF NOT EXISTS loom.idempotency
(
    org LowCardinality(String),
    namespace String ALIAS '-',
    operation LowCardinality(String),
    key String,
    request String,
    whole UInt8,
    answer String CODEC(ZSTD(1)),
    at DateTime64(3, 'UTC')
)
ENGINE = MergeTree
ORDER BY (org, operation, key, at)
TTL toDateTime(at) + INTERVAL 1 DAY
SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;
