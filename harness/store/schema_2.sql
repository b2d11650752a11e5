-- Version 2: what was decided is kept beside the facts, so that a later rule can be held against
-- what an earlier one said. docs/formats.md explains the JSON.

CREATE TABLE comparison (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    decided_ms INTEGER NOT NULL,
    rule INTEGER NOT NULL, -- version of the rule that decided
    version TEXT NOT NULL, -- of the harness
    base TEXT NOT NULL,
    head TEXT NOT NULL,
    base_commit TEXT NOT NULL, -- '' if unknown or several
    head_commit TEXT NOT NULL,
    settings TEXT NOT NULL, -- JSON object
    exit_status INTEGER NOT NULL
) STRICT;

-- Keys are text: sides that were files are of benchmarks that this history may not have.
CREATE TABLE verdict (
    id INTEGER PRIMARY KEY,
    comparison INTEGER NOT NULL REFERENCES comparison (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    machine TEXT NOT NULL,
    metric TEXT NOT NULL,
    verdict TEXT NOT NULL,
    result TEXT NOT NULL,  -- JSON object
    evidence TEXT NOT NULL -- JSON object
) STRICT;

CREATE INDEX verdict_by_comparison ON verdict (comparison);
CREATE INDEX verdict_by_key ON verdict (key, machine, metric);

-- AUTOINCREMENT: the number of a removed one is never given to another one.
CREATE TABLE acceptance (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    metric TEXT NOT NULL,
    machine TEXT NOT NULL, -- '' for any
    commit_hash TEXT NOT NULL,
    change REAL, -- head / base - 1; NULL: what is accepted is no time, but that it is broken
    reason TEXT NOT NULL,
    author TEXT NOT NULL,
    accepted_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE selftest (
    id INTEGER PRIMARY KEY,
    machine TEXT NOT NULL,
    device TEXT NOT NULL,
    kind TEXT NOT NULL, -- aa, power
    tested_ms INTEGER NOT NULL,
    rule INTEGER NOT NULL,
    result TEXT NOT NULL -- JSON object
) STRICT;

CREATE INDEX selftest_by_machine ON selftest (machine, device, kind);
