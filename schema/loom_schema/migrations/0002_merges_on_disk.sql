-- A merge writes its part without fsync, and this engine drops the parts it was made from within a
-- minute (old_parts_lifetime is 0 here, 480 s in a server). Between the two, a power cut would take
-- rows that were on disk before. A merged part is therefore on disk before it takes their place.
ALTER TABLE loom.memory MODIFY SETTING min_rows_to_fsync_after_merge = 1;
ALTER TABLE loom.memory_embeddings MODIFY SETTING min_rows_to_fsync_after_merge = 1;
ALTER TABLE loom.postings MODIFY SETTING min_rows_to_fsync_after_merge = 1;
ALTER TABLE loom.token_df MODIFY SETTING min_rows_to_fsync_after_merge = 1;
ALTER TABLE loom.corpus_stats MODIFY SETTING min_rows_to_fsync_after_merge = 1;
ALTER TABLE loom.namespaces MODIFY SETTING min_rows_to_fsync_after_merge = 1;
ALTER TABLE loom.schema_migrations MODIFY SETTING min_rows_to_fsync_after_merge = 1;
