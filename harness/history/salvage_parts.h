/* SPDX-License-Identifier: MIT */
/* Inside history/ only: the parts of a salvage. */
#ifndef HARNESS_HISTORY_SALVAGE_PARTS_H
#define HARNESS_HISTORY_SALVAGE_PARTS_H

#include "base/strbuf.h"
#include "history/salvage_walk.h"
#include "store/sql.h"

#include <sqlite3.h>

struct salvage {
    sqlite3 *from;    /* a copy of what is damaged */
    struct store *to; /* within a transaction */
    struct salvaged *result;
    int64_t turns, turns_most; /* of reading one table; most it may take */
    int64_t bytes_left;        /* of texts and blobs: no file has more than its size */
};

/* ---- salvage_file.c: a copy that SQLite opens ---- */

/* Copies `from` and its log to `copy`, which is there and empty, and mends what keeps SQLite from
 * opening it: the length in the header, a broken last page. */
int salvage_copy(const char *from, const char *copy, struct salvaged *result, struct error *err);
int64_t salvage_size(const char *copy); /* bytes that count, with its log; untrusted_bytes() */
/* Gives the first page of the copy the checksum of what it holds: it may still be right. */
int salvage_trust_start(const char *copy, struct error *err);
/* Puts the first pages of a new history over those of the copy. */
int salvage_replace_start(const char *copy, struct error *err);

/* ---- salvage_schema.c: what the file defines ---- */

/* Takes all out of the copy's table of contents that harness did not put there, and gives the
 * tables that have its names its own definitions; so nothing of a stranger's runs. result->strange
 * counts what was left behind. */
int salvage_clean_schema(sqlite3 *db, const char *path, struct salvaged *result, struct error *err);

/* ---- salvage_tree.c: trees whose inner pages are lost ---- */

/* Builds them anew from their leaves, in the file behind `db`, if its pages have the usual size.
 * Its log must be in it, and whoever reads it opens it again afterwards. */
int salvage_rebuild_trees(sqlite3 *db, const char *copy, struct salvaged *result,
                          struct error *err);

/* ---- salvage_tables.c ---- */

/* All tables, in an order in which each finds what it refers to. */
int salvage_tables(struct salvage *s, struct error *err);
/* Takes out what reading would refuse: names that are none, samples and JSON that cannot be
 * decoded; numbers that cannot be become "not known", and words get '?' for what is not shown. */
int salvage_sift(struct salvage *s, struct error *err);

#endif
