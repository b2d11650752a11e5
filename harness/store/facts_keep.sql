-- Into rows that came from before version 5: they have no kind yet. See facts.sql.

UPDATE main.measurement
SET tokens = (SELECT f.tokens FROM benchmark_facts f WHERE f.id = measurement.benchmark)
WHERE benchmark IN (SELECT id FROM benchmark_facts)
    AND launch IN (SELECT l.id FROM main.launch l JOIN main.run r ON r.id = l.run
                   WHERE r.kind = '');

UPDATE main.run
SET (kind, ab_id, ab_side, ab_block, sweep, shard, shards, shard_plan) =
    (SELECT f.kind, f.ab_id, f.ab_side, f.ab_block, f.sweep, f.shard, f.shards, f.shard_plan
     FROM run_facts f WHERE f.id = run.id)
WHERE kind = '';

DROP VIEW temp.benchmark_facts;
DROP VIEW temp.benchmark_dims;
DROP VIEW temp.run_facts;
DROP VIEW temp.run_parts;
DROP VIEW temp.run_words;
DROP VIEW temp.run_said;
