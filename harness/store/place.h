/* SPDX-License-Identifier: MIT */
/*
 * Inside store/ only: the file at its place, and what SQLite keeps beside it by name alone, the
 * log FILE-wal and its index FILE-shm. Both may be of a file that lay there before.
 *
 * Before a file is opened, place_look() puts aside what is not its own. While it is open,
 * place_fate() tells whether it is still the file that was opened, at the place where it was.
 */
#ifndef HARNESS_STORE_PLACE_H
#define HARNESS_STORE_PLACE_H

#include "store/sql.h"
#include "vfs/seal.h"

/* Puts aside the log and index of another file, or of another state of this one: the log keeps its
 * bytes under a new name, which *note tells; the index is made anew from any log. The log of a file
 * that is gone, or empty, is of another file, too; and so is the journal of one that was being
 * made, beside one that has runs. *foreign: a log of another file is there and cannot be put aside,
 * because the folder cannot be written to; with STORE_LOOK, which puts nothing aside, also an index
 * or a journal. Refused: what belongs to somebody who may not write to the file, and could so write
 * into it. */
int place_look(const char *path, enum store_mode mode, bool *foreign, struct strbuf *note,
               struct error *err);

/* The same question, and nothing is changed. */
bool place_log_is_foreign(const char *path);
/* Does the file system refuse to lock the file? SQLite takes that for a lock of somebody else. */
bool place_locks_are_refused(const char *path);
/* SQLite has the log beside the file itself, not beside a link to it: where that is; free() it. */
char *place_true_path(const char *path);
/* Lies a log with something in it beside the file, or beside what a link leads to? */
bool place_has_log(const char *path);

/* Which file is open, and by which log. After it was opened and read from. */
void place_remember(struct store *s);
/* Of that the seal alone: for a transaction before, so that it is renewed in this as in any other.
 * Within it, before it changes the tables: the first seal of a file stays as it is made. */
void place_find_seal(struct store *s);

/* Looks whether the open file is still at its place and still the same. Within a write transaction
 * nobody else changes it, so what is answered then holds until its end; at other times a log that
 * has just begun anew can look foreign. */
enum store_fate place_fate(struct store *s);
/* Within a write transaction of that handle: numbers of rows mean other rows from now on, so others
 * who have it open shall not go on as if nothing had happened. */
int place_new_life(struct store *s, struct error *err);
/* "was moved or removed": behind the name of a file, for people. */
const char *place_words(enum store_fate fate);
/* Where the handle's path is a link that leads to another file by now, the handle goes by the name
 * that its own file has, and *note says so. */
void place_follow_link(struct store *s);
/* A file that was moved takes its log along, so that it is whole where it is now. *now: where that
 * is, to be freed; NULL if it has no name any more. */
void place_follow(struct store *s, char **now);

/* The folder that a file lies in. */
void place_folder(const char *path, struct strbuf *folder);
/* One process at a time changes what files lie there under which names: a descriptor to be closed,
 * -1 where that cannot be had (a file system without such locks). */
int place_lock_folder(const char *path);
/* "beside.hex8": a name beside the file that nobody has. */
void place_name(const char *path, const char *what, struct strbuf *name);

/* ---- of place.c, for place_look.c ---- */

/* "path" and "suffix" ("-wal", "-shm"). */
void place_beside(const char *path, const char *suffix, struct strbuf *name);
/* A seal_source of one of SQLite's own handles of an open file; NULL where there is none. */
sqlite3_file *place_handle(sqlite3 *db, int which);
bool place_read_handle(void *handle, void *bytes, size_t nr, int64_t at);
/* The file as it is without any log. Only through SQLite: closing another descriptor of it would
 * drop the locks that this process has on it. NULL: it cannot be opened. */
sqlite3 *place_open_bare(const char *path);
/* By its table of contents: 1: there it is, 0: the file has none, -1: it cannot be read. */
int place_bare_seal(sqlite3 *bare, unsigned char now[SEAL_NUMBER]);
/* seal_compare(); where the log alone cannot tell, the contents of the file are asked. */
enum seal_answer place_compare_log(const char *path, const struct seal_source *log,
                                   const struct seal_source *main, struct seal *seal, uint32_t *at);

#endif
