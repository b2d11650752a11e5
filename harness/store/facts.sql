-- What the facts of version 5 are for rows of before, which had them in their label and settings,
-- and forward passes in their names. core/record.c says the same for JSON; both follow what those
-- versions went by: the label "selftest" makes a trial of such rows alone.

CREATE TEMP VIEW run_said AS
SELECT id, label, CASE WHEN json_valid(settings) THEN settings ELSE '{}' END AS json
FROM main.run;

CREATE TEMP VIEW run_words AS
SELECT id, label, json,
    CASE json_type(json, '$.in_turn') WHEN 'text' THEN json_extract(json, '$.in_turn') END
        AS imported_ab,
    CASE json_type(json, '$.ab.id') WHEN 'text' THEN json_extract(json, '$.ab.id') END
        AS measured_ab,
    CASE json_type(json, '$.ab.side') WHEN 'text' THEN json_extract(json, '$.ab.side') ELSE '' END
        AS side,
    CASE json_type(json, '$.sweep') WHEN 'text' THEN json_extract(json, '$.sweep') ELSE '' END
        AS sweep,
    CASE json_type(json, '$.shard') WHEN 'text' THEN json_extract(json, '$.shard') ELSE '' END
        AS part,
    CASE json_type(json, '$.shard_plan') WHEN 'text' THEN json_extract(json, '$.shard_plan')
        ELSE '' END AS plan
FROM run_said;

CREATE TEMP VIEW run_parts AS
SELECT id, label, json, side, sweep, plan, imported_ab IS NOT NULL AS imported,
    coalesce(imported_ab, measured_ab, '') AS ab,
    CAST(substr(part, 1, instr(part, '/') - 1) AS INTEGER) AS shard,
    CAST(substr(part, instr(part, '/') + 1) AS INTEGER) AS shards,
    part GLOB '[0-9]*/[0-9]*' AS sharded
FROM run_words;

-- Texts are cut to the room of their members (core/record.h), in bytes; of none there is no substr().
CREATE TEMP VIEW run_facts AS
SELECT id,
    CASE
        WHEN label = 'selftest' OR substr(label, 1, 9) = 'selftest ' THEN 'trial'
        WHEN json_type(json, '$.ab') IS NOT NULL THEN 'trial'
        WHEN json_type(json, '$.planted') = 'true' THEN 'trial'
        WHEN json_type(json, '$.profile') = 'true' THEN 'profile'
        WHEN json_type(json, '$.import') IS NOT NULL THEN 'imported'
        ELSE 'measured'
    END AS kind,
    coalesce(CAST(substr(CAST(ab AS BLOB), 1, 39) AS TEXT), '') AS ab_id,
    coalesce(CAST(substr(CAST(side AS BLOB), 1, 7) AS TEXT), '') AS ab_side,
    CASE WHEN ab = '' THEN 0 WHEN imported THEN 1 ELSE 2 END AS ab_block,
    coalesce(CAST(substr(CAST(sweep AS BLOB), 1, 200) AS TEXT), '') AS sweep,
    iif(sharded AND shard BETWEEN 1 AND shards AND shards <= 100000, shard, 0) AS shard,
    iif(sharded AND shard BETWEEN 1 AND shards AND shards <= 100000, shards, 0) AS shards,
    coalesce(CAST(substr(CAST(plan AS BLOB), 1, 23) AS TEXT), '') AS shard_plan
FROM run_parts;

-- gpt/<model>/prefill works on the whole sequences, gpt/<model>/decode on one token of each.
CREATE TEMP VIEW benchmark_dims AS
SELECT b.id,
    CASE instr(b.kernel, ':') WHEN 0 THEN b.kernel
        ELSE substr(b.kernel, 1, instr(b.kernel, ':') - 1) END AS kernel,
    (SELECT d.value FROM main.benchmark_dim d WHERE d.benchmark = b.id AND d.name = 'batch') AS batch,
    (SELECT d.value FROM main.benchmark_dim d WHERE d.benchmark = b.id AND d.name = 'seq') AS seq
FROM main.benchmark b
WHERE substr(b.kernel, 1, 4) = 'gpt/';

CREATE TEMP VIEW benchmark_facts AS
SELECT id, CAST(batch * iif(substr(kernel, -7) = '/decode', 1, seq) AS REAL) AS tokens
FROM benchmark_dims
WHERE batch > 0 AND (seq > 0 OR substr(kernel, -7) = '/decode')
    AND batch * iif(substr(kernel, -7) = '/decode', 1, seq) <= 1e24;
