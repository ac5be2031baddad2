-- Facts. One row a version of a key; the insert into this table is the commit of a write.
CREATE TABLE IF NOT EXISTS loom.memory
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    agent String,
    user_id String,
    session_id String,
    run_id String,
    memory_key String,
    version UInt32,
    id UInt64,
    status Enum8('live' = 1, 'superseded' = 2, 'tombstoned' = 3),
    value String CODEC(ZSTD(1)),
    content String CODEC(ZSTD(1)),
    content_sha256 FixedString(64),
    memory_type LowCardinality(String),
    canonical Nullable(String),
    summary Nullable(String),
    metadata String,
    tags Array(String),
    category String,
    entities Array(String),
    confidence Float64,
    source_class LowCardinality(String),
    source_trace String,
    source_resource_id String,
    sensitivity LowCardinality(String),
    created_at DateTime64(3, 'UTC'),
    valid_at Nullable(DateTime64(3, 'UTC')),
    valid_to Nullable(DateTime64(3, 'UTC')),
    expires_at Nullable(DateTime64(3, 'UTC')),
    superseded_by UInt64,
    superseded_at Nullable(DateTime64(3, 'UTC'))
)
ENGINE = MergeTree
ORDER BY (org, namespace, agent, user_id, session_id, memory_key, version)
SETTINGS index_granularity = 256, enable_block_number_column = 1, enable_block_offset_column = 1,
    fsync_after_insert = 1, fsync_part_directory = 1;

-- Vectors, normalised by the writer: cosine = 1 - L2SquaredDistance / 2.
CREATE TABLE IF NOT EXISTS loom.memory_embeddings
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    model LowCardinality(String),
    id UInt64,
    agent String,
    user_id String,
    session_id String,
    run_id String,
    memory_key String,
    live UInt8,
    vector Array(BFloat16) CODEC(NONE)
)
ENGINE = MergeTree
ORDER BY (org, namespace, model, id)
SETTINGS index_granularity = 256, enable_block_number_column = 1, enable_block_offset_column = 1,
    fsync_after_insert = 1, fsync_part_directory = 1;

-- The lexical index: one row a distinct token of a text. Every indexed row also has one posting
-- under the empty token, so that rows without words are known too. dl counts the scored tokens.
CREATE TABLE IF NOT EXISTS loom.postings
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    plane LowCardinality(String),
    token String,
    id UInt64,
    agent String,
    user_id String,
    session_id String,
    run_id String,
    memory_key String,
    tf UInt16,
    dl UInt32,
    live UInt8
)
ENGINE = MergeTree
ORDER BY (org, namespace, plane, token, id)
SETTINGS index_granularity = 512, enable_block_number_column = 1, enable_block_offset_column = 1,
    fsync_after_insert = 1, fsync_part_directory = 1;

-- Roll-ups over live rows; a retired row writes its counts again, negative.
-- Plane 'fact' counts index tokens; plane 'embed' counts the embedder's tokens.
CREATE TABLE IF NOT EXISTS loom.token_df
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    plane LowCardinality(String),
    token String,
    df Int64,
    cf Int64
)
ENGINE = SummingMergeTree
ORDER BY (org, namespace, plane, token)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS loom.corpus_stats
(
    org LowCardinality(String),
    namespace LowCardinality(String),
    plane LowCardinality(String),
    docs Int64,
    length Int64
)
ENGINE = SummingMergeTree
ORDER BY (org, namespace, plane)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- What a namespace prefers (JSON), and under the namespace '-' the org's own: its embedding
-- model, fixed by its first vector. The row of the highest version counts.
CREATE TABLE IF NOT EXISTS loom.namespaces
(
    org LowCardinality(String),
    namespace String,
    version UInt64,
    embedding_model String,
    preferences String,
    updated_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (org, namespace)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
