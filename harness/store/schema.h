/* SPDX-License-Identifier: MIT */
/*
 * Inside store/ only: which files are histories, and the numbered scripts that make and upgrade
 * them. The version is SQLite's user_version; script n turns version n into n + 1, so a new file
 * and an old one go the same way.
 */
#ifndef HARNESS_STORE_SCHEMA_H
#define HARNESS_STORE_SCHEMA_H

#include "store/sql.h"

enum { SCHEMA_APPLICATION_ID = 0x48524e53 }; /* "HRNS" */

/* Looks at the first bytes without locking or touching anything. *empty: a file of length 0.
 * -1 for what is no database or no history. Only where a history was being made when the power
 * went, and nothing of its start is there, is that undone first, by SQLite and its journal. */
int schema_recognise(struct store *s, bool *empty, struct error *err);
/* -1 if this harness cannot read the version; else sets s->version. Older ones that only lack
 * tables can be read: whoever reads such a table looks at s->version first. */
int schema_check_version(struct store *s, struct error *err);
/* Versions that brought tables; the ones that made facts of what was guessed before, and that
 * brought the numbers of programs, what inputs hold and when heads were measured; and the newest.
 */
enum {
    SCHEMA_VERDICTS = 2,
    SCHEMA_ANNOTATIONS = 3,
    SCHEMA_SEAL = 4,
    SCHEMA_FACTS = 5,
    SCHEMA_NUMBERS = 6,
    SCHEMA_FILL = 7,
    SCHEMA_TUNED = 7,
    SCHEMA_SEEN = 8,
    SCHEMA_NOW = SCHEMA_SEEN,
};
/* Lets queries find those facts in an older file, which stays as it is: by views of this connection
 * with the names of the tables. Only "main.run" is the table itself then. */
int schema_show_facts(struct store *s, struct error *err);
/* Writes them into rows that have none (kind is ''). Within a transaction. */
int schema_keep_facts(struct store *s, struct error *err);
int schema_empty_error(const struct store *s, struct error *err); /* -1 */
/* Brings an empty or older file to the newest version in one transaction. */
int schema_upgrade(struct store *s, struct error *err);
/* The same with any scripts; the tests use it. Refuses a version above `nr`. */
int schema_apply(struct store *s, const char *const *scripts, int nr, struct error *err);

/* store_open_telling() (`tell` may be NULL), which also says by which of SQLite's codes it failed;
 * 0: by none. */
int store_open_or_why(struct store **s, const char *path, enum store_mode mode,
                      const struct store_teller *tell, int *failure, struct error *err);

#endif
