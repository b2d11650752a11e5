-- Version 8: when what was compared and accepted was measured, so that an acceptance can be held
-- against a base or a step where there is no commit. 0: nobody wrote it down.

ALTER TABLE comparison ADD COLUMN head_ms INTEGER NOT NULL DEFAULT 0; -- first start of the head's runs

ALTER TABLE acceptance ADD COLUMN seen_ms INTEGER NOT NULL DEFAULT 0; -- and of those it was seen in
