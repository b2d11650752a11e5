-- Version 3: words about a run, and runs whose samples are only kept as summaries
-- (stats/thin_samples.h), which an older harness could not read.

ALTER TABLE run ADD COLUMN thinned_ms INTEGER NOT NULL DEFAULT 0; -- when that was done; 0: never

CREATE TABLE annotation (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    written_ms INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (run, written_ms, text)
) STRICT;
