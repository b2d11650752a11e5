-- Version 7: what a benchmark's inputs hold, "zeros"; '' is as its kernel says, as all were before.

ALTER TABLE benchmark ADD COLUMN fill TEXT NOT NULL DEFAULT '';

-- And settings of parameters that won a race (`harness tune`). The newest row of a key,
-- machine, driver and code counts; older ones stay.

CREATE TABLE tuned (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,     -- of the benchmark, its variant without a setting
    machine TEXT NOT NULL, -- fingerprint
    driver TEXT NOT NULL,  -- of the device; '' where it has none
    code TEXT NOT NULL,    -- whose variant it is: "k.so"
    digest TEXT NOT NULL,  -- and what it was made of
    setting TEXT NOT NULL, -- "BM=64,stages=3"
    decided INTEGER NOT NULL CHECK (decided IN (0, 1)), -- else the best when time was up
    tuned_ms INTEGER NOT NULL,
    run TEXT NOT NULL,     -- uuid of the run in which it was measured
    result TEXT NOT NULL   -- JSON object
) STRICT;

CREATE INDEX tuned_by_key ON tuned (key, machine);
