/* SPDX-License-Identifier: MIT */
/* Whole files in and out. Errors name the path and the system's reason. */
#ifndef HARNESS_BASE_FILE_H
#define HARNESS_BASE_FILE_H

#include "base/digest.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

/* What is read at most, by kind. */
#define FILE_SETTINGS_MOST                                                                         \
    ((size_t)16 << 20)                       /* configurations, presets, suites, logs of builds    \
                                              */
#define FILE_RECORDS_MOST ((size_t)1 << 30)  /* exported histories, results, traces, samples */
#define FILE_IMPORT_MOST  ((size_t)64 << 20) /* results of other programs */
#define FILE_ARRAYS_MOST  ((size_t)16 << 30) /* arrays of numbers, whole histories */

/* The whole file, NUL-terminated (the NUL is not counted), if it has no more than `most` bytes;
 * free() it. NULL on error. Refused: what is no regular file, which may have no end or never begin,
 * unless `path` names a descriptor of this process: /dev/stdin, /dev/fd/N. Such a one is read from
 * where it is. */
char *file_read(const char *path, size_t most, size_t *length, struct error *err);

/*
 * A file that takes the place of `path` when it is complete:
 *
 *     struct file_output o;
 *     if (file_begin(&o, path, err))
 *         return -1;
 *     fprintf(o.stream, ...);            errors are found by file_commit()
 *     return file_commit(&o, err);       or file_abort(&o)
 *
 * What was there is whole until then, whatever happens, and stays where anything fails. A new file
 * is made beside the target by a name nobody can guess (.harness-<random>.tmp, exclusively, no link
 * followed), gets mode and owner of what it replaces, is synchronised and renamed; then its folder
 * is synchronised. Links lead to the target, which is replaced. What is there and no regular file
 * (a device, a pipe) is written in place; so are /dev/stdout and /dev/fd/N, from where this process
 * is in them. A process that is killed leaves nothing or one such temporary file, which nobody
 * reads.
 */
struct file_output {
    FILE *stream;
    char *path, *target, *temporary; /* owned; the latter NULL where it is written in place */
};

int file_begin(struct file_output *o, const char *path, struct error *err);
/* Both end it and leave nothing to release. */
int file_commit(struct file_output *o, struct error *err);
void file_abort(struct file_output *o);
/* The same in one call. */
int file_write(const char *path, const void *bytes, size_t length, struct error *err);
/* For other files that stand for one: owner and group of that, as far as one may, and the mode. -1
 * and errno. */
int file_take_mode(int fd, const struct stat *from, mode_t mode);
/* Creates the directory and its parents; existing ones are fine. One named .harness, where it is
 * made, holds a .gitignore of its own from then on. */
int file_make_directory(const char *path, struct error *err);
/* Creates the directory that will hold `path`. */
int file_make_parent(const char *path, struct error *err);
/* Removes the directory and all that is in it, following no link and leaving other file systems
 * alone. */
int file_remove_folder(const char *path, struct error *err);
/* What was created, renamed or removed under that name stays so after a power cut: synchronises the
 * folder that holds it. */
int file_sync_folder(const char *path, struct error *err);
/* False, too, where that cannot be told: for what is not needed. */
bool file_exists(const char *path);
/* 1: it is there, 0: it is not, -1: that cannot be told, as of a folder that one may not enter. */
int file_look(const char *path, struct error *err);
bool file_is_folder(const char *path); /* or a link to one */
/* Do both names lead to one file, by whatever links? */
bool file_is_same(const char *a, const char *b);
/* The digest of a file's content as text, see base/digest.h: tells one file from another that took
 * its place. */
int file_digest(const char *path, char digest[DIGEST_TEXT_SIZE], struct error *err);
/* First line of a small file such as those of /sys, without the newline; false if unreadable. */
bool file_first_line(const char *path, char *line, size_t size);
/* The number behind a name in a small file of lines "NAME VALUE" or "NAME: VALUE kB", such as those
 * of /proc; false if there is none. */
bool file_field(const char *path, const char *name, int64_t *value);

#endif
