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
 * -1 for what is no database or no history. */
int schema_recognise(struct store *s, bool *empty, struct error *err);
/* -1 if the version is not the one this harness reads. */
int schema_check_version(struct store *s, struct error *err);
/* Brings an empty or older file to the newest version in one transaction. */
int schema_upgrade(struct store *s, struct error *err);
/* The same with any scripts; the tests use it. Refuses a version above `nr`. */
int schema_apply(struct store *s, const char *const *scripts, int nr, struct error *err);

#endif
