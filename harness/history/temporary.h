/* SPDX-License-Identifier: MIT */
/*
 * Inside history/ only: files that are written beside the one that is wanted, and get its name when
 * they are complete and on the disk; and such as are needed for a while. Each has a name that
 * nobody can guess, "FILE.<word>-<8 hex digits>.partial", is made exclusively, and is held locked
 * as long as its maker lives. What one that was killed has left is removed by the next that makes
 * one in that folder.
 *
 *     struct temporary t;
 *     int rc = temporary_make(&t, "history.db", TEMPORARY_BACKUP, err);
 *     ... write to t.name.data, synchronised ...
 *     if (rc == 0)
 *         rc = temporary_publish(&t, "history.db", err);
 *     temporary_release(&t);                              in any case
 */
#ifndef HARNESS_HISTORY_TEMPORARY_H
#define HARNESS_HISTORY_TEMPORARY_H

#include "base/error.h"
#include "base/strbuf.h"
#include "store/sql.h"

enum temporary_kind {
    TEMPORARY_BACKUP,   /* a copy of a history */
    TEMPORARY_SALVAGED, /* what was salvaged */
    TEMPORARY_DAMAGED,  /* a damaged file, to be mended; for its owner alone */
    TEMPORARY_FRESH,    /* a new history, whose first pages are needed */
    TEMPORARY_RESTORED, /* a backup of an older version, upgraded */
    NR_TEMPORARY
};

struct temporary {
    struct strbuf name;
    int fd; /* holds it; -1: there is none */
};

/* An empty file beside `path`. */
int temporary_make(struct temporary *t, const char *path, enum temporary_kind kind,
                   struct error *err);
/* It will be as readable as that file is, and belong to whom that does, as far as one may give
 * files away. A private history stays private, and a shared one shared. */
void temporary_stand_for(struct temporary *t, const char *path);
/* store_backup() of a history that stands for the file `stands_for`. backup.c */
int temporary_backup(struct store *s, const char *path, const char *stands_for, struct error *err);
/* Writes the whole history into the empty file `name`, which is one file then, and on the disk;
 * errors say `called`. backup.c */
int temporary_fill(struct store *s, const char *name, const char *called, struct error *err);
/* Gives the finished file, which is on the disk, a name that nobody has. */
int temporary_publish(struct temporary *t, const char *to, struct error *err);
/* The same for any file. */
int temporary_give_name(const char *from, const char *to, struct error *err);
/* Removes what has no other name by now, with its log and journal. */
void temporary_release(struct temporary *t);

#endif
