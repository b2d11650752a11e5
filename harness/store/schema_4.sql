-- Version 4: the seal. It says which file this is, and every transaction changes it, so that a
-- write-ahead log tells which state of which file it goes on from (vfs/seal.h). One row, never
-- anything but these sizes: so it stays where it is in its page.

CREATE TABLE seal (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    mark TEXT NOT NULL,  -- how its page is known without a table of contents
    file BLOB NOT NULL,  -- 16 random bytes, of the file's life
    before BLOB NOT NULL, -- 8 bytes: `now` as the last transaction found it; zeros: there was none
    now BLOB NOT NULL    -- 8 random bytes
) STRICT;

INSERT INTO seal VALUES (1, 'harness seal', randomblob(16), zeroblob(8), randomblob(8));
