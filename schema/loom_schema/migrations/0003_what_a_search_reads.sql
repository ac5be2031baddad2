-- A search reads some two hundred scattered rows of `memory`, and every column more costs it a block a row.
-- `face` is what it shows of a row in one column: a JSON array of the columns that never change once a version
-- is written (server/loom_server/engine/hydrate.py reads it), times in milliseconds since 1970, the text
-- cut to 1,201 characters. The engine computes it at the insert, and for older parts when it merges them.
ALTER TABLE loom.memory ADD COLUMN IF NOT EXISTS face String MATERIALIZED concat(
    '[', arrayStringConcat([
        toJSONString(agent), toJSONString(user_id), toJSONString(session_id), toJSONString(run_id),
        toJSONString(memory_key), toString(version), toJSONString(leftUTF8(content, 1201)),
        toJSONString(toString(memory_type)), toJSONString(tags), toJSONString(category), toJSONString(entities),
        toString(confidence), toJSONString(toString(source_class)), toJSONString(source_resource_id),
        toJSONString(toString(sensitivity)), toString(toUnixTimestamp64Milli(created_at)),
        ifNull(toString(toUnixTimestamp64Milli(valid_at)), 'null'),
        ifNull(toString(toUnixTimestamp64Milli(valid_to)), 'null'),
        ifNull(toString(toUnixTimestamp64Milli(expires_at)), 'null')
    ], ','), ']'
) CODEC(LZ4) SETTINGS (min_compress_block_size = 16384);

-- Two bits of sense a dimension, written in three: where a component of the unit vector lies among -0.6, 0 and
-- 0.6 of its usual size. The Hamming distance of two codes stands for the distance of the vectors, at a fifth of the
-- bytes (server/loom_server/legs/fact.py).
ALTER TABLE loom.memory_embeddings ADD COLUMN IF NOT EXISTS code String MATERIALIZED unbin(arrayStringConcat(
    arrayMap(x -> multiIf(
        x * sqrt(length(vector)) <= -0.6, '000', x <= 0, '100', x * sqrt(length(vector)) <= 0.6, '110', '111'
    ), vector)
)) CODEC(NONE);

-- Rows that are there already: without these they would be computed anew at every read. Both go on in the background.
ALTER TABLE loom.memory MATERIALIZE COLUMN face;
ALTER TABLE loom.memory_embeddings MATERIALIZE COLUMN code;
