/* SPDX-License-Identifier: MIT */
/*
 * Inside store/ only: a history may come from a stranger, so every handle is told to take what is
 * in the file as data, before it reads the first byte of it. Source:
 * sqlite.org/security.html, "Defense Against The Dark Arts".
 */
#ifndef HARNESS_STORE_UNTRUSTED_H
#define HARNESS_STORE_UNTRUSTED_H

#include "store/sql.h"

#include <sys/stat.h>

enum {
    UNTRUSTED_VALUE_MAX = 64 << 20, /* bytes of a value or a row: the samples of a measurement */
    UNTRUSTED_SQL_MAX = 1 << 20,    /* bytes of a statement, those of the file's schema too */
};

/*
 * No triggers and no views run, no function of the schema with side effects, no way to write the
 * schema or over a table by a PRAGMA, text in double quotes is no string, pages are looked at
 * closer as they are read, the file is not mapped into memory, and sizes have limits.
 */
int untrusted_settings(sqlite3 *db);

/*
 * Ends a query (SQLITE_INTERRUPT) that has taken far more steps than a file of this size can need:
 * pages that lead to each other have more rows than anybody can wait for. The count begins anew
 * with each outermost query; steps of queries within it count as its own.
 */
void untrusted_limit_steps(struct store *s);
void untrusted_begin(struct store *s, sqlite3_stmt *stmt);

/*
 * A file may have holes, which read as zeros and cost nobody anything, so its length alone says
 * nothing of what is in it: with `truncate -s 1T` anybody makes one that no loop over its pages
 * gets through. What counts are bytes that are on the disk, eight times as many where the file
 * system compresses them, and no more than the file is long.
 */
int64_t untrusted_bytes(const struct stat *st);
/* Longer than this is no file that holds so much: one that is not made of holes. */
int64_t untrusted_length_most(const struct stat *st);

#endif
