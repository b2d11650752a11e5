-- Version 1 of the history. docs/formats.md explains it. A change is a new file schema_<n>.sql
-- that turns version n-1 into n, and a row in store_schema.c; this one never changes again.
-- Times are milliseconds since the epoch. NULL in a REAL column stands for "not a number".

CREATE TABLE machine (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    class TEXT NOT NULL,
    cpu TEXT NOT NULL,
    cores INTEGER NOT NULL,
    threads INTEGER NOT NULL,
    isa TEXT NOT NULL,
    l1d INTEGER NOT NULL,
    l2 INTEGER NOT NULL,
    l3 INTEGER NOT NULL,
    l3_shared_by INTEGER NOT NULL,
    memory INTEGER NOT NULL,
    gpu TEXT NOT NULL,
    UNIQUE (fingerprint, class, cpu, cores, threads, isa, l1d, l2, l3, l3_shared_by, memory, gpu)
) STRICT;

CREATE TABLE build (
    id INTEGER PRIMARY KEY,
    version TEXT NOT NULL,
    commit_hash TEXT NOT NULL,
    branch TEXT NOT NULL,
    dirty INTEGER NOT NULL CHECK (dirty IN (0, 1)),
    compiler TEXT NOT NULL,
    flags TEXT NOT NULL,
    build_type TEXT NOT NULL,
    UNIQUE (commit_hash, branch, dirty, version, compiler, flags, build_type)
) STRICT;

-- AUTOINCREMENT: the number of a deleted run is never given to another one.
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    machine INTEGER NOT NULL REFERENCES machine (id),
    build INTEGER NOT NULL REFERENCES build (id),
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL, -- 0: running, or died
    suite TEXT NOT NULL,
    label TEXT NOT NULL,
    environment TEXT, -- JSON object
    settings TEXT     -- JSON object
) STRICT;

CREATE INDEX run_by_time ON run (started_ms);

CREATE TABLE launch (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL, -- 0: running, or died
    exit_status INTEGER NOT NULL,
    error_text TEXT,
    UNIQUE (run, seq)
) STRICT;

CREATE TABLE benchmark (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    kernel TEXT NOT NULL,
    variant TEXT NOT NULL,
    math TEXT NOT NULL,
    device TEXT NOT NULL,
    cache TEXT NOT NULL
) STRICT;

CREATE TABLE benchmark_dim (
    benchmark INTEGER NOT NULL REFERENCES benchmark (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (benchmark, position)
) STRICT, WITHOUT ROWID;

-- The blob is last, so that listings do not read it.
CREATE TABLE measurement (
    id INTEGER PRIMARY KEY,
    launch INTEGER NOT NULL REFERENCES launch (id) ON DELETE CASCADE,
    benchmark INTEGER NOT NULL REFERENCES benchmark (id),
    outcome TEXT NOT NULL, -- OK, UNSUPPORTED, WRONG, FAILED
    message TEXT,
    vendor INTEGER NOT NULL CHECK (vendor IN (0, 1)),
    max_error REAL,
    tolerance REAL,
    checked REAL,
    flops REAL,
    bytes REAL,
    footprint INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    stop TEXT NOT NULL,
    warmups INTEGER NOT NULL,
    clock TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    seconds REAL,
    telemetry TEXT, -- JSON object of numbers
    nr_samples INTEGER NOT NULL,
    samples BLOB
) STRICT;

CREATE INDEX measurement_by_launch ON measurement (launch, benchmark);
CREATE INDEX measurement_by_benchmark ON measurement (benchmark);

CREATE TABLE ceiling (
    id INTEGER PRIMARY KEY,
    machine INTEGER NOT NULL REFERENCES machine (id),
    epoch TEXT NOT NULL,
    device TEXT NOT NULL,
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    value REAL,
    low REAL,
    high REAL,
    spec REAL,
    measured_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX ceiling_by_machine ON ceiling (machine, device, name);

CREATE TABLE baseline (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL,
    note TEXT
) STRICT;

-- A run that a baseline names cannot be deleted before the baseline.
CREATE TABLE baseline_run (
    baseline INTEGER NOT NULL REFERENCES baseline (id) ON DELETE CASCADE,
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE RESTRICT,
    PRIMARY KEY (baseline, run)
) STRICT, WITHOUT ROWID;

CREATE INDEX baseline_run_by_run ON baseline_run (run);
