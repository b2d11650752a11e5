/* SPDX-License-Identifier: MIT */
/* Whole files in and out. Errors name the path and the system's reason. */
#ifndef HARNESS_BASE_FILE_H
#define HARNESS_BASE_FILE_H

#include "base/digest.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole file, NUL-terminated (the NUL is not counted); free() it. NULL on error. */
char *file_read(const char *path, size_t *length, struct error *err);
/* Replaces the file in one step: temporary file beside it, fsync, rename. What is there and no
 * regular file (/dev/stdout, a pipe, a link) is written in place instead, never replaced. */
int file_write(const char *path, const void *bytes, size_t length, struct error *err);
/* Creates the directory and its parents; existing ones are fine. */
int file_make_directory(const char *path, struct error *err);
/* Creates the directory that will hold `path`. */
int file_make_parent(const char *path, struct error *err);
/* What was created, renamed or removed under that name stays so after a power cut: synchronises the
 * folder that holds it. */
int file_sync_folder(const char *path, struct error *err);
bool file_exists(const char *path);
/* May every user of this machine read the file: by its own mode, and by those of all folders above
 * it? False where it is not there, or where that cannot be told. */
bool file_is_public(const char *path);
/* The digest of a file's content as text, see base/digest.h: tells one file from another that took
 * its place. */
int file_digest(const char *path, char digest[DIGEST_TEXT_SIZE], struct error *err);
/* First line of a small file such as those of /sys, without the newline; false if unreadable. */
bool file_first_line(const char *path, char *line, size_t size);
/* The number behind a name in a small file of lines "NAME VALUE" or "NAME: VALUE kB", such as those
 * of /proc; false if there is none. */
bool file_field(const char *path, const char *name, int64_t *value);

#endif
