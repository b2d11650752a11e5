-- Tables of before version 5 as they look since, for those who only read. See facts.sql.

CREATE TEMP VIEW run AS
SELECT r.*, f.kind, f.ab_id, f.ab_side, f.ab_block, f.sweep, f.shard, f.shards, f.shard_plan
FROM main.run r JOIN run_facts f ON f.id = r.id;

CREATE TEMP VIEW measurement AS
SELECT m.*, (SELECT f.tokens FROM benchmark_facts f WHERE f.id = m.benchmark) AS tokens,
    NULL AS numbers
FROM main.measurement m;
