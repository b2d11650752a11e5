-- Version 5: facts that were guessed before. What kind of run it is, what it was measured in turn
-- with, which shard it is; tokens of a forward pass. facts.sql says what they are for older rows,
-- facts_keep.sql puts that in, in the same transaction: a row without a kind is such a one.

ALTER TABLE run ADD COLUMN kind TEXT NOT NULL DEFAULT ''; -- measured, profile, imported, trial
ALTER TABLE run ADD COLUMN ab_id TEXT NOT NULL DEFAULT ''; -- the same for both that were measured in turn
ALTER TABLE run ADD COLUMN ab_side TEXT NOT NULL DEFAULT ''; -- base, head
ALTER TABLE run ADD COLUMN ab_block INTEGER NOT NULL DEFAULT 0; -- launches of a side in a block
ALTER TABLE run ADD COLUMN sweep TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN shard INTEGER NOT NULL DEFAULT 0; -- the 2nd ...
ALTER TABLE run ADD COLUMN shards INTEGER NOT NULL DEFAULT 0; -- ... of 4; 0: the run is whole
ALTER TABLE run ADD COLUMN shard_plan TEXT NOT NULL DEFAULT '';

-- Of an older program that had the file open meanwhile and went on writing: the next writer sees.
CREATE INDEX run_without_kind ON run (kind) WHERE kind = '';

ALTER TABLE measurement ADD COLUMN tokens REAL DEFAULT NULL; -- of one launch; NULL: no forward pass
