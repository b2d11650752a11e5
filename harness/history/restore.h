/* SPDX-License-Identifier: MIT */
/* Copying a history, putting another one in its place while it is in use, and moving it away. */
#ifndef HARNESS_HISTORY_RESTORE_H
#define HARNESS_HISTORY_RESTORE_H

#include "base/strbuf.h"
#include "store/store.h"

/* A copy of a history in use, as one complete file of the same mode and owner (as all that stands
 * for a history has). Refuses to replace an existing file. */
int store_backup(struct store *s, const char *path, struct error *err);

struct store_content {
    int64_t runs, measurements;
};

struct store_restored {
    bool was_there, aside; /* a file was there; it was no sound history and was put aside */
    struct store_content before, now;
    struct strbuf kept; /* as what it was put aside; release it */
};

/* The history at `path` gets the content of `backup`, which must be sound and stays as it is; of an
 * older version it may be. In one transaction: whoever has the history open reads the one or the
 * other, and writers go on with the new content. What is there and no sound history is put aside,
 * never removed, and then, or where nothing is there, the file is made anew. Where `path` is a
 * link, all that is of the file that it leads to. */
int store_restore(const char *path, const char *backup, const struct store_teller *tell,
                  struct store_restored *out, struct error *err);
void store_restored_release(struct store_restored *out);

/* The file gets another name, on whatever file system, and leaves no log behind. Refused while
 * somebody else has it open, and where there is something under the new name. */
int store_move(const char *path, const char *to, const struct store_teller *tell,
               struct error *err);

#endif
